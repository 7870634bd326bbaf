package codec

import "github.com/correlator-go/correlator/internal/vector"

// shortRun is how many words of a string go by, less one, before vectors take over:
// names and most values are shorter, and a call costs as much as some words.
const shortRun = 5

// longStr is what remains of str by vectors, of a string that has turned out to be
// long or no plain one. What stops them is looked at as in str.
func (s *scanner) longStr(b []byte, i int, found problem) (int, problem) {
	for {
		if len(b)-i >= vector.Block {
			n, crossed := vector.Text(b[i:])
			if i += n; crossed {
				found = escaped
			}
		}
		// The last bytes of the string, or of the frame; or an escape, behind which vectors
		// go on.
		for {
			for fits(b, i) {
				m := specials(load64(b, i))
				if m != 0 {
					i += firstMark(m)
					goto special
				}
				i += 8
			}
			for i < len(b) && !isSpecial(b[i]) {
				i++
			}
			if i >= len(b) {
				return len(b), errTruncated
			}
		special:
			if b[i] == '"' {
				return i + 1, found
			}
			next, p := s.special(b, i)
			if i = next; p == escaped {
				found = escaped
				break
			}
			if p != fine {
				return i, p
			}
		}
	}
}
