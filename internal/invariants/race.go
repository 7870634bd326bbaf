//go:build race

package invariants

// Race reports whether the binary runs under the race detector, whose own
// allocations make allocation gates meaningless.
const Race = true
