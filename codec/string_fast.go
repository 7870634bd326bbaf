package codec

import "github.com/correlator-go/correlator/internal/vector"

const (
	// shortRun is how many words of a string go by, less one, before vectors take over:
	// names and most values are shorter, and a call costs as much as some words.
	shortRun = 5
	// wideText is how many runs of characters beyond ASCII are looked at one by one.
	// A string that holds more is likely to hold many more.
	wideText = 4
	// wideChunk is how many bytes of such a string are crossed before they are checked
	// to be UTF-8: few enough to be in the cache still.
	wideChunk = 16 << 10
)

// longStr is what remains of str by vectors, of a string that has turned out to be
// long or no plain one. What stops them is looked at as in str.
func (s *scanner) longStr(b []byte, i int, found problem) (int, problem) {
	wides := 0
	for {
		if len(b)-i >= vector.Block {
			n, crossed, ok := 0, false, true
			if wides < wideText {
				n, crossed = vector.Text(b[i:], false)
			} else if n, crossed, ok = wideRun(b[i:]); !ok {
				wides = -len(b) // something is wrong ahead: the other way finds what
				continue
			}
			if i += n; crossed {
				found = escaped
			}
			if i >= len(b) || !isSpecial(b[i]) {
				continue
			}
		} else {
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
		}
	special:
		if b[i] == '"' {
			return i + 1, found
		}
		if b[i] >= 0x80 {
			wides++
		}
		next, p := s.special(b, i)
		switch {
		case p == escaped:
			found = escaped
		case p != fine:
			return next, p
		}
		i = next
	}
}

// wideRun crosses a part of a string's text, of any characters, and reports whether
// it was UTF-8; if not, n is 0. It ends between two characters.
func wideRun(b []byte) (n int, crossed, ok bool) {
	part := b[:min(len(b), wideChunk)]
	n, crossed = vector.Text(part, true)
	for k := 0; k < 3 && 0 < n && n < len(b) && b[n]&0xC0 == 0x80; k++ {
		n--
	}
	if !vector.ValidUTF8(b[:n]) {
		return 0, false, false
	}
	return n, crossed, true
}
