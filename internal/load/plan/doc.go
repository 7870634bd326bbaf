// Package plan decides what a load test sends and when, before anything is
// sent: the times of an open loop ([Schedule]) and the params of each request
// ([Payload]). Both are pure functions of their arguments, so that the same
// seed gives the same requests at the same planned times, and a latency can be
// measured from the time at which its request should have been sent.
//
// Neither reads a clock nor does I/O.
package plan
