// Package limit decides which calls may go on: how many at once, in which order those
// wait that may not, how long, and how fast one client may ask. It has no I/O, starts
// no goroutine and reads no clock: time is an argument.
//
// A gate stands before each upstream and one before all. A call that finds no place
// waits in a bounded queue, which serves clients in turn and each client's calls in
// order; the time in it does not eat the call's own budget. Nothing blocks: who is let
// in later is told so by a callback, on the goroutine that made the room.
package limit
