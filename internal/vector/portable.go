package vector

import (
	"bytes"
	"math/bits"
	"unicode/utf8"
)

// The plain twins, byte by byte.

const simple = `"/\bfnrt`

func isSimple(c byte) bool {
	for i := range len(simple) {
		if simple[i] == c {
			return true
		}
	}
	return false
}

func textPortable(b []byte) (at int, escapes bool) {
	end, escaped := len(b)&^(Block-1), 0 // escaped: 1 behind a backslash
	for ; at < end; at++ {
		if at%Block == 0 && !validBlock(b, at) {
			break
		}
		switch c := b[at]; {
		case escaped != 0:
			if !isSimple(c) {
				return at - 1, escapes
			}
			escaped = 0
		case c == '\\':
			escapes, escaped = true, 1
		case c == '"', c < ' ':
			return at, escapes
		}
	}
	return at - escaped, escapes
}

// validBlock reports whether the block at b[at] is UTF-8, behind b[:at], which is. It
// may break off a character. Of one that it breaks off behind its first byte, nothing
// wrong can be seen.
func validBlock(b []byte, at int) bool {
	for rest := b[boundary(b, at) : at+Block]; len(rest) > 1 || len(rest) == 1 && rest[0] < 0xC0; {
		if !utf8.FullRune(rest) {
			break
		}
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 {
			return false
		}
		rest = rest[n:]
	}
	return true
}

// lineEndPortable looks for the second only before the first.
func lineEndPortable(b []byte) int {
	at := bytes.IndexByte(b, '\n')
	if at < 0 {
		return bytes.IndexByte(b, '\r')
	}
	if other := bytes.IndexByte(b[:at], '\r'); other >= 0 {
		return other
	}
	return at
}

func classifyPortable(b *[Block]byte, s *State, m *Masks) {
	*m = Masks{}
	for i, c := range b {
		bit := uint64(1) << i
		mark := func(is bool, of int) {
			if is {
				m[of] |= bit
			}
		}
		mark(c == '{' || c == '[', Opens)
		mark(c == '}' || c == ']', Closes)
		mark(c&0x20 != 0, Curly)
		mark(c == ',', Commas)
		mark(c == ':', Colons)
		mark(c == ' ' || c == '\t' || c == '\n' || c == '\r', Spaces)
		mark(c-'0' <= 9, Digits)
		mark(c == '-', Minuses)
		mark(c == '.', Dots)
		mark(c == '0', Zeros)
		mark(c < ' ', Controls)
		mark(c >= 0x80, Wides)
		escaped := s.escaped != 0
		s.escaped = 0
		mark(escaped && !isSimple(c), Escapes)
		if c == '\\' && !escaped {
			s.escaped = 1
		}
		if c == '"' && !escaped {
			m[Quotes] |= bit
			s.inside = ^s.inside
		}
		m[Inside] |= s.inside & bit
	}
}

func crossPortable(b []byte, deepest int, s *crossState) int {
	for i := 0; i < len(b); i += Block {
		var m Masks
		classifyPortable((*[Block]byte)(b[i:]), &s.State, &m)
		for t := (m[Opens] | m[Closes]) &^ m[Inside]; t != 0; t &= t - 1 {
			if m[Opens]>>bits.TrailingZeros64(t)&1 != 0 {
				if s.depth++; s.depth > deepest {
					return crossLook
				}
				continue
			}
			if s.depth--; s.depth == 0 {
				before := t&-t - 1
				return s.lines(b[i:], &m, before, i+bits.TrailingZeros64(t)+1)
			}
		}
		if at := s.lines(b[i:], &m, ^uint64(0), crossOpen); at == crossLook {
			return at
		}
	}
	return crossOpen
}

// lines looks for newlines among the bytes that are marked.
func (s *crossState) lines(b []byte, m *Masks, marked uint64, at int) int {
	for t := m[Controls] & marked; t != 0; t &= t - 1 {
		i := bits.TrailingZeros64(t)
		if b[i] != '\n' && b[i] != '\r' {
			continue
		}
		if m[Inside]>>i&1 != 0 {
			return crossLook
		}
		s.newlines = 1
	}
	return at
}
