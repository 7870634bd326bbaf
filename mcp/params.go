package mcp

import (
	"github.com/correlator-go/correlator/codec"
)

// callParams is where the members of a request's params stand, as spans of the
// params' own text.
type callParams struct {
	name      codec.Span // params.name, or params.uri
	arguments codec.Span
	inputs    codec.Span // inputResponses
	state     codec.Span // requestState
	cursor    codec.Span
	filter    codec.Span // notifications of subscriptions/listen
	uri       codec.Span
	meta      codec.Span
	token     codec.Span // in the params, while m.token is in the _meta
	m         metaSpans  // in the _meta
	known     *metaText  // the same _meta but for its token, if it is known
	twice     bool       // a member that is read stands twice
}

// set notes a member. What was inspected must be what the next reader takes, so a
// second one is not let pass.
func (p *callParams) set(at *codec.Span, value codec.Span) {
	if at.Present() {
		p.twice = true
	}
	*at = value
}

// read finds the members of params that any method reads. token is where the scan
// found the progress token, last the _meta of a request before.
func (p *callParams) read(params []byte, last *metaText, token codec.Span) {
	p.token = token
	m, ok := membersOf(params)
	if !ok {
		return
	}
	for name, start, ok := m.name(); ok; name, start, ok = m.name() {
		at := p.member(name)
		if at != &p.meta || params[start] != '{' {
			m.i = skipValue(params, start)
		} else if end, same := last.recall(params, start, token); same {
			m.i, p.known, p.m = end, last, last.metaSpans
		} else {
			m.i = start + p.readMeta(params[start:]) // once over it is enough
		}
		if at != nil {
			p.set(at, codec.Span{Off: uint32(start), End: uint32(m.i)})
		}
	}
}

// metaText gives the text in which p.m stands.
func (p *callParams) metaText(params []byte) []byte {
	if p.known != nil {
		return p.known.text
	}
	return p.meta.Of(params)
}

// member gives the place of a member of params, nil for one that nobody reads.
func (p *callParams) member(name []byte) *codec.Span {
	switch string(name) {
	case "name":
		return &p.name
	case "arguments":
		return &p.arguments
	case "_meta":
		return &p.meta
	case "uri":
		return &p.uri
	case "cursor":
		return &p.cursor
	case "inputResponses":
		return &p.inputs
	case "requestState":
		return &p.state
	case "notifications":
		return &p.filter
	}
	return nil
}

// metaPrefix is that of the protocol's own keys.
const metaPrefix = "io.modelcontextprotocol/"

// readMeta finds the members of the _meta at the beginning of text, and returns the
// index behind it.
func (p *callParams) readMeta(text []byte) int {
	m := members{text, 1}
	for name, start, ok := m.name(); ok; name, start, ok = m.name() {
		at := p.m.member(name)
		if at == &p.m.info && text[start] == '{' {
			m.i, p.m.named = readImplementation(text, start)
		} else {
			m.i = skipValue(text, start)
		}
		if at != nil {
			p.set(at, codec.Span{Off: uint32(start), End: uint32(m.i)})
		}
	}
	return m.i + 1
}

// member gives the place of a member of _meta, nil for one that nobody reads.
func (p *metaSpans) member(name []byte) *codec.Span {
	if len(name) > len(metaPrefix) && string(name[:len(metaPrefix)]) == metaPrefix {
		switch string(name[len(metaPrefix):]) {
		case "protocolVersion":
			return &p.version
		case "clientCapabilities":
			return &p.capabilities
		case "clientInfo":
			return &p.info
		case "logLevel":
			return &p.logLevel
		}
		return nil
	}
	switch string(name) {
	case MetaProgressToken:
		return &p.token
	case MetaTraceParent:
		return &p.traceParent
	case MetaTraceState:
		return &p.traceState
	case MetaCorrelation:
		return &p.correlation
	case MetaIdempotencyKey:
		return &p.idempotency
	}
	return nil
}

// readImplementation walks the Implementation that begins at b[start], and returns
// the index behind it and whether it has what it must: a name and a version.
func readImplementation(b []byte, start int) (end int, named bool) {
	var name, version bool
	m := members{b, start + 1}
	for key, value, ok := m.next(); ok; key, value, ok = m.next() {
		switch string(key) {
		case "name":
			name = b[value.Off] == '"'
		case "version":
			version = b[value.Off] == '"'
		}
	}
	return m.i + 1, name && version
}
