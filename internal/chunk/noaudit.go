//go:build !invariants

package chunk

// Audit keeps no account without the tag invariants: its methods do nothing.
type Audit struct{}

// Lend would note that the reader hands out a frame.
func (*Audit) Lend([]byte) {}

// LendEnds would note that the reader was called again.
func (*Audit) LendEnds() {}

// Lease would note that a frame is retained once more.
func (*Audit) Lease([]byte) {}

// Unlease would take one lease of a frame back.
func (*Audit) Unlease([]byte) {}

// Move would note that a splice turned a frame into another extent.
func (*Audit) Move(from, to []byte) {}

func (*Audit) close() {}
