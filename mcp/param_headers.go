package mcp

import (
	"fmt"
	"strings"

	"github.com/correlator-go/correlator/codec"
)

// headerMember is the member of a property's schema that names the header in which
// a client repeats the argument: Mcp-Param-<value>.
const headerMember = "x-mcp-header"

// paramHeader is one argument that is repeated in a header.
type paramHeader struct{ property, header string }

// readParamHeaders finds the arguments of a tool that are repeated in headers:
// strings, integers and booleans that stand directly in the arguments.
func readParamHeaders(schema []byte) ([]paramHeader, error) {
	var found []paramHeader
	properties := member(schema, "properties")
	m, _ := membersOf(properties)
	for name, span, ok := m.next(); ok; name, span, ok = m.next() {
		text := member(span.Of(properties), headerMember)
		if text == nil {
			continue
		}
		header, isText := stringOf(text)
		if !isText || !isToken(header) {
			return nil, fmt.Errorf("property %q: %s is no header name", name, headerMember)
		}
		for _, other := range found {
			if strings.EqualFold(other.header, string(header)) {
				return nil, fmt.Errorf("property %q: %s %q stands twice", name, headerMember, header)
			}
		}
		switch string(member(span.Of(properties), "type")) {
		case `"string"`, `"integer"`, `"boolean"`:
		default:
			return nil, fmt.Errorf("property %q: %s needs a string, an integer or a boolean", name, headerMember)
		}
		found = append(found, paramHeader{string(name), string(header)})
	}
	return found, nil
}

// isToken reports whether b is a token of RFC 9110.
func isToken(b []byte) bool {
	for _, c := range b {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return len(b) > 0
}

// mirrored reports whether the headers repeat what the arguments say.
func mirrored(wanted []paramHeader, arguments []byte, header func(string) (string, bool)) bool {
	for _, p := range wanted {
		text := member(arguments, p.property)
		value, sent := header(p.header)
		if absent := text == nil || string(text) == "null"; absent || !sent {
			if absent == sent {
				return false
			}
			continue
		}
		plain, ok := DecodeHeader(value)
		if !ok {
			return false
		}
		if s, isText := stringOf(text); isText {
			if plain != string(s) {
				return false
			}
		} else if plain != string(text) && !sameNumber(plain, text) {
			return false
		}
	}
	return true
}

// sameNumber reports whether two texts write one number.
func sameNumber(a string, b []byte) bool {
	var x, y float64
	return codec.DecodeValue([]byte(a), &x) == nil && codec.DecodeValue(b, &y) == nil && x == y
}
