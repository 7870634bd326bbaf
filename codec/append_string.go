package codec

import "unicode/utf8"

// AppendString appends s to dst as a JSON string. Only what JSON requires is
// escaped: quotes, backslashes and control characters, nothing for the sake of
// HTML. Bytes that are not UTF-8 become \ufffd, as in encoding/json, so that the
// result is always valid.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	n := unescaped(s, highBits)
	if n == len(s) {
		dst = append(dst, s...)
		return append(dst, '"')
	}
	dst = append(dst, s[:n]...)
	s = s[n:]
	if utf8.ValidString(s) {
		dst = appendEscaped(dst, s)
	} else {
		dst = appendCorrected(dst, s)
	}
	return append(dst, '"')
}

// appendEscaped appends the UTF-8 text s with its escapes.
func appendEscaped(dst []byte, s string) []byte {
	for {
		n := unescaped(s, 0)
		dst = append(dst, s[:n]...)
		if n == len(s) {
			return dst
		}
		dst = appendEscape(dst, s[n])
		s = s[n+1:]
	}
}

// appendCorrected appends s, which is not UTF-8 all through.
func appendCorrected(dst []byte, s string) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, `\ufffd`...)
		case n == 1 && (r < ' ' || r == '"' || r == '\\'):
			dst = appendEscape(dst, s[0])
		default:
			dst = append(dst, s[:n]...)
		}
		s = s[n:]
	}
	return dst
}

func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// unescaped counts the bytes at the beginning of s that need no escape, stopping too
// at a byte of a rune beyond ASCII if high is highBits, not if it is 0.
func unescaped(s string, high uint64) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote, slash := w^('"'*lowBits), w^('\\'*lowBits)
		// Each term sets the high bit of its bytes, perhaps of some above the first
		// one too, and of none when there is no such byte.
		found := (w-' '*lowBits)&^w | (quote-lowBits)&^quote | (slash-lowBits)&^slash | w&high
		if found&highBits != 0 {
			break
		}
	}
	for ; i < len(s); i++ {
		c := s[i]
		if c < ' ' || c == '"' || c == '\\' || high != 0 && c >= utf8.RuneSelf {
			break
		}
	}
	return i
}
