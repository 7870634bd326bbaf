package codec

import "github.com/correlator-go/correlator/internal/vector"

// An engine is a way to walk the bytes of a frame. They stand behind three
// functions, of which all others of the scan are built:
//
//   - str, which validates a string,
//   - body, which validates a value inside params, result or error, and
//   - cross, which goes to the end of one that is trusted.
//
// S1: every engine accepts the same frames, reports the same code and offset for
// the others and finds the same spans. FuzzEngines compares each with the portable
// one. What a faster engine cannot settle at once, all that is wrong above all, it
// leaves to the portable one, so that there is one place where verdicts are made.
type engine uint8

const (
	portable engine = iota // pure Go, a byte or a word at a time
	parallel               // blocks of 64 bytes: strings by vectors, bodies by masks
	engines
)

// fastest is the engine that Scan takes. The parallel one exists everywhere, but is
// fast only on processors for which package vector has assembly.
func fastest(wantPortable bool) engine {
	if vector.Available() && !wantPortable {
		return parallel
	}
	return portable
}

// ScanEngine names what [Scan] works with here: "avx2", or "portable" on other
// processors and under the build tag correlator_portable. ScanOptions.Portable
// chooses the latter for one call.
func ScanEngine() string {
	if vector.Available() {
		return "avx2"
	}
	return "portable"
}

// parallelBody is how much must be left of a frame, in bytes, for masks to be worth
// their making.
const parallelBody = 2 << 10

// mostTiny is after how many bodies that masks were not worth no more are made for
// the frame: a result may be an object of very many short lists.
const mostTiny = 8

// isPlain says that body has nothing to choose in a frame of n bytes.
func (s *scanner) isPlain(n int) bool {
	return !s.trust && (s.engine == portable || n < parallelBody)
}

// body validates a value inside params, result or error by the engine in use.
// Under TrustBody it only looks for where the value ends.
func (s *scanner) body(b []byte, i, depth int) (int, problem) {
	if s.trust {
		return s.trusted(b, i, depth)
	}
	if s.engine == parallel && len(b)-i >= parallelBody && b[i]|0x20 == '{' && !s.lone && s.tiny < mostTiny {
		return s.masked(b, i, depth)
	}
	return s.skip(b, i, depth)
}
