// Package page shows a load test as one HTML page: the percentiles on an axis of
// nines, what happened second by second, a heat map, the goals and the settings,
// of one run or of two laid over each other ([Write]), and of a run that is still
// going on ([Live]).
//
// A page needs nothing but itself: no network, no font, no script from elsewhere,
// and its Content-Security-Policy forbids the browser to ask for any. The charts
// are SVG that is drawn here, so they stand without scripts too; the script adds
// the readout under the pointer. Lines are drawn in a coordinate system of 1,000 by
// 1,000 that the browser stretches, and the labels are text beside it, so that a
// page is as readable on a telephone as on a wide screen.
//
// Everything that a run brings along (method names, arguments, what a server calls
// itself, files of others) is escaped by html/template where it stands.
package page
