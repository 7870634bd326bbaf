package mcp

import (
	"bytes"

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
	b, i := m.b, m.i
	for i < len(b) && (b[i] <= ' ' || b[i] == ',') {
		i++
	}
	if i >= len(b) || b[i] != '"' {
		return nil, codec.Span{}, false
	}
	end := skipString(b, i)
	name = b[i+1 : end-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = []byte(decodeString(b[i:end]))
	}
	i = end
	for i < len(b) && (b[i] <= ' ' || b[i] == ':') {
		i++
	}
	if i >= len(b) {
		return nil, codec.Span{}, false
	}
	m.i = skipValue(b, i)
	return name, codec.Span{Off: uint32(i), End: uint32(m.i)}, true
}

// skipString returns the index behind the string that begins at b[i].
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		default:
			if i+32 < len(b) { // far: let the vector code look
				n := bytes.IndexByte(b[i:], '"')
				if n < 0 {
					return len(b)
				}
				if esc := bytes.IndexByte(b[i:i+n], '\\'); esc < 0 {
					return i + n + 1
				} else {
					i += esc + 1
				}
			}
		}
	}
	return len(b)
}

// skipValue returns the index behind the value that begins at b[i].
func skipValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		for depth := 0; i < len(b); {
			switch b[i] {
			case '"':
				i = skipString(b, i)
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
	digits := bytes.TrimPrefix(text, []byte("-"))
	if len(digits) == 0 || len(digits) > codec.MaxIDDigits {
		return false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
