package codec

// An engine is a way to walk the bytes of a frame. There is one in pure Go, for
// every architecture; faster ones stand behind the same two functions, of which
// all others of the scan are built:
//
//   - str, which validates a string, and
//   - body, which validates a value inside params, result or error.
//
// S1: every engine accepts the same frames, reports the same code for the others
// and finds the same spans. FuzzEngines compares each with the portable one.
type engine uint8

const (
	portable engine = iota
	engines         // how many this build has
)

// fastest is the engine that Scan takes for a frame of n bytes.
func fastest(n int) engine { return portable }

// body validates a value inside params, result or error by the engine in use.
// Under TrustBody only its structure is looked at.
func (s *scanner) body(b []byte, i, depth int) (int, problem) {
	if s.trust {
		s.trusting = true
		i, p := s.skip(b, i, depth)
		s.trusting = false
		return i, p
	}
	return s.skip(b, i, depth)
}

// text is the string of a body: validated, or under TrustBody only crossed, to
// the first quote that is not escaped.
func (s *scanner) text(b []byte, i int) (int, problem) {
	if !s.trusting {
		return s.str(b, i)
	}
	if end := stringEnd(b, i); end >= 0 {
		return end, fine
	}
	return len(b), errTruncated
}
