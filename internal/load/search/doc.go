// Package search finds the highest rate at which something holds, by trying: a
// [Finder] says which rate to probe next and is told whether it held.
//
// It doubles the rate until one does not hold (or halves it until one does), and
// then bisects between the highest that held and the lowest that did not, until
// they are as close as asked. A rate fails when it fails twice in a row, so that
// one disturbed probe decides nothing, and the answer is probed once more in the
// end: had it held by luck, the search goes on below it.
//
// The package is pure: it runs nothing and reads no clock.
package search
