// Package cputime tells how much processor time this process has used. It is what
// benchmarks and the load generator judge by on a machine that others use as well:
// the clock on the wall counts their time too.
package cputime
