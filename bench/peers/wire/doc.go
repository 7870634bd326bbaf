// Package wire compares package codec with the libraries by which Go programs
// read and write JSON-RPC messages: how long a message takes, without any
// connection.
//
// Sets of 100 different frames are worked through (internal/frameset): one frame
// repeated is learnt by heart by the branch predictor and shows up to twice the
// speed. Every library does the least that tells a message's kind, id and raw
// params or result; ours also validates all of it, finds the progress token and
// refuses duplicates, which the others leave to whoever comes next.
package wire
