package mcp

import "github.com/correlator-go/correlator/codec"

// Agree reports whether h says the same as the request m: its version and method,
// and of tools/call, prompts/get and resources/read what they are about. Step
// compares by itself, and arguments with it: Agree is for programs that pass requests
// on without a State. What m lacks, or has twice, is for others to refuse: the
// version it lacks cannot differ, one that it has twice agrees with nothing.
func (h *Headers) Agree(m *codec.Message) bool {
	a := arrival{headers: h, text: m.Frame(), env: m.Envelope, params: m.Params()}
	a.p.read(a.params, nil, m.Envelope.Token)
	a.meta = a.p.metaText(a.params)
	a.method = knownMethod(a.methodName())
	if a.p.twice {
		return false
	}
	version, ok := stringOf(a.p.m.version.Of(a.meta))
	if !ok {
		version = []byte(h.Version)
	}
	return a.headersAgree(version)
}

// Repeat reports whether the headers of a call of a tool repeat its arguments, as
// inputSchema, the tool's, wants it: each that it marks with x-mcp-header and that
// arguments, a JSON object, has. A schema that marks a property wrongly wants nothing.
func (h *Headers) Repeat(inputSchema, arguments []byte) bool {
	wanted, err := readParamHeaders(inputSchema)
	return err != nil || h.Param == nil || mirrored(wanted, arguments, h.Param)
}
