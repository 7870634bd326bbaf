package codec

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

func hasEscape(raw []byte) bool { return bytes.IndexByte(raw, '\\') >= 0 }

// unquote appends to dst the decoded form of raw, a validated string without its
// quotes, and stops once it has appended limit bytes or all there is.
//
// A lone surrogate becomes the three bytes that UTF-8 would have for it if it
// could: no valid text, but each a different one, so that two ids which differ
// only there do not become the same.
func unquote(dst, raw []byte, limit int) []byte {
	room := len(dst) + limit
	for len(raw) > 0 && len(dst) < room {
		n := bytes.IndexByte(raw, '\\')
		if n != 0 {
			if n < 0 {
				n = len(raw)
			}
			n = min(n, room-len(dst))
			dst, raw = append(dst, raw[:n]...), raw[n:]
			continue
		}
		var char [utf8.UTFMax]byte
		text, used := unescape(char[:0], raw)
		dst, raw = append(dst, text[:min(len(text), room-len(dst))]...), raw[used:]
	}
	return dst
}

// unescape appends to dst what the escape at the beginning of raw stands for,
// and says how long it is, a surrogate pair taken as one.
func unescape(dst, raw []byte) ([]byte, int) {
	switch c := raw[1]; c {
	case 'b':
		return append(dst, '\b'), 2
	case 'f':
		return append(dst, '\f'), 2
	case 'n':
		return append(dst, '\n'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'u':
	default:
		return append(dst, c), 2
	}
	unit, _ := hex4(raw, 2)
	r := rune(unit)
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(dst, r), 6
	}
	if len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' {
		low, _ := hex4(raw, 8)
		if pair := utf16.DecodeRune(r, rune(low)); pair != utf8.RuneError {
			return utf8.AppendRune(dst, pair), 12
		}
	}
	return append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F), 6
}

// appendQuoted is AppendString that gives back the escapes of lone surrogates in
// the form of unquote, so that an id comes out as it came in.
func appendQuoted(dst []byte, s string) []byte {
	if utf8.ValidString(s) {
		return AppendString(dst, s)
	}
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i+2 < len(s); i++ {
		if s[i] == 0xED && s[i+1]&0xE0 == 0xA0 && s[i+2]&0xC0 == 0x80 {
			r := uint(s[i+1]&0x3F)<<6 | uint(s[i+2]&0x3F)
			dst = appendCorrected(dst, s[start:i])
			dst = append(dst, '\\', 'u', 'd', hex[r>>8&15], hex[r>>4&15], hex[r&15])
			start, i = i+3, i+2
		}
	}
	return append(appendCorrected(dst, s[start:]), '"')
}
