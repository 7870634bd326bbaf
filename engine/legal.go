package engine

import "github.com/correlator-go/correlator/internal/invariants"

// legal proves that a word may follow another, in builds that check invariants. A
// generation changes only when a free slot is taken, and then by one (I2).
func legal(from, to word) {
	a, b := from.state(), to.state()
	taken := a == free && b != free && b < settling
	gen := from.gen()
	if taken {
		gen++
	}
	invariants.Check(to.gen() == gen, "I2: generation %d of %v follows %d of %v", to.gen(), b, from.gen(), a)
	invariants.Check(taken || follows(a, b), "I1: %v follows %v", b, a)
}

// follows is the diagram of word.go, without the edges that leave free.
func follows(a, b state) bool {
	switch {
	case a == free:
		return b == free // its link changes
	case a == reserved:
		return b <= watched|parkedBit // it is registered, marked or taken back
	case a == callback || a == discarded:
		return b == a || b == free // progress moves its tick; it settles
	case a < settling: // pending and its attended forms
		return b < settling && b >= pending && b&a&attendedBits == a&attendedBits || // attended, or its tick moves
			b == settling|a&attendedBits || // claimed
			b == discarded && a&parkedBit == 0
	case a < answered: // settling
		return b >= settling && b < answered && b&a&attendedBits == a&attendedBits ||
			b == answered|a&parkedBit || b == ended|a&parkedBit
	default: // there is an outcome
		return b == free || b == a // consumed; marked with the time
	}
}
