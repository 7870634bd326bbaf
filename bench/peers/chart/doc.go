// Package chart draws a report's headline: how many calls a second each contender
// carries over one connection, as an SVG that a README can show. It needs no
// script and no font of its own, and follows the reader's light or dark setting.
package chart
