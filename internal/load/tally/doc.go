// Package tally counts what became of the requests of a load test and how long
// they took: a [Tally] of shards that many goroutines record into, rotated into
// one [Row] per interval and a [Total] at the end.
//
// # Two latencies
//
// The response time of a call runs from when it was due, its service time from
// when it was sent. They differ by what the call waited in the generator: for
// room under the cap on calls in flight, or for the generator itself. A peer
// that freezes for a second makes every call that was due in that second wait;
// only the response time shows it (the others are sent behind their time, and look fast).
//
// Answered calls, errors among them, are in both tables, and so are calls that
// timed out, with the time after which their caller had nothing. Cancelled and
// lost calls are in neither.
//
// # Invariants
//
// I1: sent = ok + error + timeout + cancelled + lost, once nothing is in flight.
// I2: every sample is in exactly one interval, so the histograms of the rows sum
// up to that of the total.
//
// # Cost
//
// Recording a batch takes one uncontended lock and, per sample, two increments
// in HdrHistogram arrays; it allocates nothing. Histograms hold 1 ns to one hour
// with three significant digits; what is longer counts as one hour.
package tally
