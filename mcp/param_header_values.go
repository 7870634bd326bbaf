package mcp

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
// An error says that the schema marks a property wrongly: a client that uses HTTP
// must then leave the tool out of its lists.
func ParamHeaders(inputSchema, arguments []byte) ([]ParamHeader, error) {
	wanted, err := readParamHeaders(inputSchema)
	if err != nil {
		return nil, err
	}
	var headers []ParamHeader
	for _, p := range wanted {
		text := member(arguments, p.property)
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
