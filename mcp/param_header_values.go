package mcp

import (
	"fmt"

	"github.com/correlator-go/correlator/codec"
)

// ParamHeader is one header that repeats an argument of tools/call over HTTP.
type ParamHeader struct {
	// Name is the header's whole name, Mcp-Param- included.
	Name string
	// Value is what stands in it, encoded by EncodeHeader where it has to be.
	Value string
}

// ParamHeaders gives the headers in which a client repeats arguments of a tool in
// the modern era: those that inputSchema, the tool's, marks with x-mcp-header and
// that arguments, a JSON object, has. Arguments that are absent or null have no
// header.
//
// An error that is codec.ErrDuplicateMember says that such an argument stands twice: the
// server could take either. Any other says that the schema marks a property wrongly: a
// client that uses HTTP must then leave the tool out of its lists.
func ParamHeaders(inputSchema, arguments []byte) ([]ParamHeader, error) {
	wanted, err := readParamHeaders(inputSchema)
	if err != nil {
		return nil, err
	}
	var headers []ParamHeader
	for _, p := range wanted {
		text, err := soleMember(arguments, p.property)
		if err != nil {
			return nil, err
		}
		if text == nil || string(text) == "null" {
			continue
		}
		value := string(text)
		if s, isText := stringOf(text); isText {
			value = string(s)
		}
		headers = append(headers, ParamHeader{"Mcp-Param-" + p.header, EncodeHeader(value)})
	}
	return headers, nil
}

// soleMember is member of what may stand once only.
func soleMember(text []byte, name string) ([]byte, error) {
	var value []byte
	m, _ := membersOf(text)
	for n, span, ok := m.next(); ok; n, span, ok = m.next() {
		if string(n) != name {
			continue
		}
		if value != nil {
			return nil, fmt.Errorf("mcp: argument %q: %w", name, codec.ErrDuplicateMember)
		}
		value = span.Of(text)
	}
	return value, nil
}
