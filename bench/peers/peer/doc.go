// Package peer holds the clients that are compared: ours, every rival in its best
// configuration, and the floors that no client can beat. A client lives in a file
// of its own, with what was chosen for it and why; README.md of the module sums
// that up.
//
// All make the same call: a text goes out, and the same text has to come back. A
// call has a timeout, given in the way that the client's users give one: as an
// argument where there is one, else as a context with a timeout.
package peer
