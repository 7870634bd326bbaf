// Package residue is how the gateway's tests look at what a fault has left behind: the
// counters add up, no call is pending or waits, the budget of partial frames is whole, and
// goroutines and live memory are what they were before.
package residue
