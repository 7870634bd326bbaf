package codec

import "encoding/binary"

// nondigits marks the bytes of w that are no decimal digit, exact up to the
// lowest mark.
func nondigits(w uint64) uint64 {
	w ^= '0' * ones
	return (w + (0x80-10)*ones | w) & highs
}

// digits returns the index of the first byte from i on that is no digit.
func digits(b []byte, i int) int {
	for fits(b, i) {
		m := nondigits(load64(b, i))
		if m != 0 {
			return i + firstMark(m)
		}
		i += 8
	}
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// number validates the number that begins at b[i], a digit or a minus sign, and
// returns the index behind it. What follows it is for the caller to judge.
func number(b []byte, i int) (int, problem) {
	if b[i] == '-' {
		i++
	}
	start := i
	i = digits(b, i)
	if i == start {
		return numberEnd(b, i)
	}
	if b[start] == '0' && i > start+1 {
		return start + 1, errNumber
	}
	if i < len(b) && b[i] == '.' {
		start = i + 1
		if i = digits(b, start); i == start {
			return numberEnd(b, i)
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		start = i
		if i = digits(b, start); i == start {
			return numberEnd(b, i)
		}
	}
	return i, fine
}

// numberEnd tells a frame cut in a number from a malformed number.
func numberEnd(b []byte, i int) (int, problem) {
	if i >= len(b) {
		return i, errTruncated
	}
	return i, errNumber
}

const (
	wordTrue = 't' | 'r'<<8 | 'u'<<16 | 'e'<<24
	wordAlse = 'a' | 'l'<<8 | 's'<<16 | 'e'<<24
	wordNull = 'n' | 'u'<<8 | 'l'<<16 | 'l'<<24
)

// literal validates true, false or null at b[i], whose first letter is right.
func literal(b []byte, i int) (int, problem) {
	if i+4 > len(b) {
		return i, errTruncated
	}
	if w := binary.LittleEndian.Uint32(b[i:]); w == wordTrue || w == wordNull {
		return i + 4, fine
	}
	if b[i] != 'f' {
		return i, errLiteral
	}
	if i+5 > len(b) {
		return i, errTruncated
	}
	if binary.LittleEndian.Uint32(b[i+1:]) == wordAlse {
		return i + 5, fine
	}
	return i, errLiteral
}
