package mcp

import (
	"encoding/binary"
	"math/bits"

	"github.com/correlator-go/correlator/codec"
)

// members walks the members of a JSON object. The text was validated: what stands
// here only finds its way, and stops where it meets what no valid text has.
type members struct {
	b []byte
	i int
}

// membersOf begins the walk; false when text is no object.
func membersOf(text []byte) (members, bool) {
	if len(text) < 2 || text[0] != '{' {
		return members{}, false
	}
	return members{text, 1}, true
}

// next gives the next member: its name, decoded, and where its value stands in the
// text. It allocates only for a name with escapes.
func (m *members) next() (name []byte, value codec.Span, ok bool) {
	name, start, ok := m.name()
	if !ok {
		return nil, codec.Span{}, false
	}
	m.i = skipValue(m.b, start)
	return name, codec.Span{Off: uint32(start), End: uint32(m.i)}, true
}

// name gives the next member's name and where its value begins. The caller sets
// m.i behind the value.
func (m *members) name() (name []byte, start int, ok bool) {
	b, i := m.b, m.i
	for i < len(b) && b[i] != '"' {
		if b[i] > ' ' && b[i] != ',' {
			m.i = i
			return nil, 0, false
		}
		i++
	}
	if i >= len(b) {
		return nil, 0, false
	}
	end, plain := skipString(b, i)
	if end < i+2 {
		return nil, 0, false
	}
	name = b[i+1 : end-1]
	if !plain {
		name = []byte(decodeString(b[i:end]))
	}
	if i = end + 1; end < len(b) && b[end] == ':' && i < len(b) && b[i] > ' ' {
		return name, i, true
	}
	for i = end; i < len(b) && (b[i] <= ' ' || b[i] == ':'); {
		i++
	}
	return name, i, i < len(b)
}

const (
	lowBits   = 0x0101010101010101
	highBits  = 0x8080808080808080
	quotes    = '"' * lowBits
	backslash = '\\' * lowBits
)

// skipString returns the index behind the string that begins at b[i], and whether
// it has no escapes. It looks at eight bytes at a time.
func skipString(b []byte, i int) (end int, plain bool) {
	plain = true
	for i++; i < len(b); {
		if i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			q, e := w^quotes, w^backslash
			// The lowest bit set marks the first byte that is one of the two.
			marks := ((q-lowBits)&^q | (e-lowBits)&^e) & highBits
			if marks == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(marks) / 8
		}
		switch b[i] {
		case '"':
			return i + 1, plain
		case '\\':
			plain = false
			i++
		}
		i++
	}
	return len(b), plain
}

// skipValue returns the index behind the value that begins at b[i].
func skipValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		i, _ = skipString(b, i)
		return i
	case '{', '[':
		for depth := 0; i < len(b); {
			switch b[i] {
			case '"':
				i, _ = skipString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return len(b)
	}
	for i < len(b) && b[i] > ' ' && b[i] != ',' && b[i] != '}' && b[i] != ']' {
		i++
	}
	return i
}

// member gives the text of the last member called name, nil when there is none.
func member(text []byte, name string) []byte {
	var value []byte
	m, _ := membersOf(text)
	for n, span, ok := m.next(); ok; n, span, ok = m.next() {
		if string(n) == name {
			value = span.Of(text)
		}
	}
	return value
}

// elements yields the elements of a validated JSON array; false when text is
// none.
func elements(text []byte, yield func(value []byte) bool) bool {
	if len(text) < 2 || text[0] != '[' {
		return false
	}
	for i := 1; i < len(text); {
		if c := text[i]; c <= ' ' || c == ',' {
			i++
			continue
		}
		if text[i] == ']' {
			break
		}
		end := skipValue(text, i)
		if end == i || !yield(text[i:end]) {
			break
		}
		i = end
	}
	return true
}

func isObject(text []byte) bool { return len(text) > 0 && text[0] == '{' }
func isString(text []byte) bool { return len(text) > 0 && text[0] == '"' }

// isID reports whether a validated text is a string or an integer, which is what
// ids and tokens are.
func isID(text []byte) bool {
	if isString(text) {
		return true
	}
	if len(text) > 0 && text[0] == '-' {
		text = text[1:]
	}
	if len(text) == 0 || len(text) > codec.MaxIDDigits {
		return false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
