package codec

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101 // one in each byte of a word
	highs = 0x8080808080808080 // the top bit of each byte
)

// specials marks, by its top bit, each byte of w at which a string needs a
// closer look: a quote, a backslash, a control character or a byte beyond ASCII.
// Borrows make it exact only up to the lowest mark, which is all its users take.
func specials(w uint64) uint64 { return marks(w) & highs }

// marks is specials with junk in the other bits.
func marks(w uint64) uint64 {
	return (w - ' '*ones) | ((w ^ '"'*ones) - ones) | ((w ^ '\\'*ones) - ones) | w
}

// firstMark is the index, 0 to 7, of the lowest byte marked in m; 8 for none.
func firstMark(m uint64) int { return bits.TrailingZeros64(m) >> 3 }

// str validates the string whose opening quote stands before i, and returns the
// index behind its closing quote, with escaped if it holds escapes.
func (s *scanner) str(b []byte, i int) (int, problem) {
	found := fine
	for {
		for run := 0; fits(b, i); run++ {
			m := specials(load64(b, i))
			if m != 0 {
				i += firstMark(m)
				goto special
			}
			i += 8
			switch {
			case run == shortRun && s.engine == parallel:
				return s.longStr(b, i, found)
			case run == longRun:
				i = plainRun(b, i)
			}
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
		if s.engine == portable && b[i] == '\\' && i+1 < len(b) && isSimpleEscape(b[i+1]) {
			found, i = escaped, i+2
			continue
		}
		next, p := s.special(b, i)
		switch {
		case p == escaped:
			found = escaped
		case p != fine:
			return next, p
		}
		if i = next; s.engine == parallel {
			return s.longStr(b, i, found)
		}
	}
}

// special crosses what stands at b[i] in a string and is neither a plain character
// nor a quote: an escape, which it says, or characters beyond ASCII.
func (s *scanner) special(b []byte, i int) (int, problem) {
	switch c := b[i]; {
	case c == '\\':
		i, p := s.escape(b, i)
		if p == fine {
			p = escaped
		}
		return i, p
	case c >= 0x80:
		return multibyte(b, i)
	}
	return i, errControl
}

// longRun is how many plain words must have gone by before str takes the next
// ones four at a time: below that, the four-word step costs more than it saves.
const longRun = 15

// plainRun returns the index behind the blocks of 32 bytes from i on that hold
// nothing special.
func plainRun(b []byte, i int) int {
	for i >= 0 && i <= len(b)-32 {
		block := b[i : i+32]
		w0, w1 := binary.LittleEndian.Uint64(block), binary.LittleEndian.Uint64(block[8:])
		w2, w3 := binary.LittleEndian.Uint64(block[16:]), binary.LittleEndian.Uint64(block[24:])
		if (marks(w0)|marks(w1)|marks(w2)|marks(w3))&highs != 0 {
			break
		}
		i += 32
	}
	return i
}

func isSpecial(c byte) bool { return c < ' ' || c == '"' || c == '\\' || c >= 0x80 }

// simpleEscapes has a one for each byte that may follow a backslash, less 'u'.
var simpleEscapes = [256]uint8{'"': 1, '/': 1, '\\': 1, 'b': 1, 'f': 1, 'n': 1, 'r': 1, 't': 1}

func isSimpleEscape(c byte) bool { return simpleEscapes[c] != 0 }

// escape validates the escape whose backslash is b[i] and returns the index
// behind it.
func (s *scanner) escape(b []byte, i int) (int, problem) {
	if i+1 >= len(b) {
		return len(b), errTruncated
	}
	if isSimpleEscape(b[i+1]) {
		return i + 2, fine
	}
	if b[i+1] != 'u' {
		return i, errEscape
	}
	unit, p := hex4(b, i+2)
	if p != fine {
		return i, p
	}
	if s.lone && unit&^0x7FF == 0xD800 {
		return s.pair(b, i, unit)
	}
	return i + 6, fine
}

// pair demands, under RefuseLoneSurrogates, that the surrogate escaped at i be
// the first of a pair.
func (s *scanner) pair(b []byte, i int, high uint32) (int, problem) {
	if high >= 0xDC00 || i+12 > len(b) || b[i+6] != '\\' || b[i+7] != 'u' {
		return i, errSurrogate
	}
	low, p := hex4(b, i+8)
	if p != fine || low&^0x3FF != 0xDC00 {
		return i, errSurrogate
	}
	return i + 12, fine
}

// hex4 reads the four hexadecimal digits from i on.
func hex4(b []byte, i int) (uint32, problem) {
	var v uint32
	for k := range 4 {
		if i+k >= len(b) {
			return 0, errTruncated
		}
		d := hexDigit(b[i+k])
		if d < 0 {
			return 0, errEscape
		}
		v = v<<4 | uint32(d)
	}
	return v, fine
}

func hexDigit(c byte) int {
	switch {
	case c-'0' <= 9:
		return int(c - '0')
	case c|0x20-'a' <= 5:
		return int(c|0x20-'a') + 10
	}
	return -1
}

// multibyte validates the UTF-8 sequences from b[i] on, until an ASCII byte.
// Each sequence is told from one word: its marker bits first, then the bits that
// an overlong form, a surrogate or a code point beyond U+10FFFF would have.
func multibyte(b []byte, i int) (int, problem) {
	for fits(b, i) {
		w := load64(b, i)
		switch {
		case w&0x80 == 0:
			return i, fine
		case w&0x00C0C0F0 == 0x008080E0 && w&0x200F != 0 && w&0x200F != 0x200D:
			i += 3
			if w >>= 24; w&0x00C0C0F0 == 0x008080E0 && w&0x200F != 0 && w&0x200F != 0x200D {
				i += 3
			}
		case w&0xC0E0 == 0x80C0 && w&0x1E != 0:
			i += 2
			if w >>= 16; w&0xC0E0 == 0x80C0 && w&0x1E != 0 {
				i += 2
			}
		case w&0xC0C0C0F8 == 0x808080F0 && w&0x3007 != 0 && (w&7 < 4 || w&0x3007 == 4):
			i += 4
		default:
			return i, errUTF8
		}
	}
	return multibyteTail(b, i)
}

// multibyteTail does the same where fewer than eight bytes are left.
func multibyteTail(b []byte, i int) (int, problem) {
	for i < len(b) && b[i] >= utf8.RuneSelf {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i, errUTF8
		}
		i += n
	}
	return i, fine
}
