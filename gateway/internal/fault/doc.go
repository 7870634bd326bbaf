// Package fault has the gateway's tests of what goes wrong on real connections: servers
// and clients that stop reading, answer twice, late, in another's name or with garbage,
// or vanish. Whatever befalls it, each call ends once, no answer crosses, the counters
// add up, and memory returns to what it was.
package fault
