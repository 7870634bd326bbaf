package mcp

import (
	"github.com/correlator-go/correlator/codec"
)

// callParams is where the members of a request's params stand, as spans of the
// params' own text.
type callParams struct {
	name         codec.Span // params.name, or params.uri
	arguments    codec.Span
	inputs       codec.Span // inputResponses
	state        codec.Span // requestState
	token        codec.Span // of _meta, as what follows
	version      codec.Span
	capabilities codec.Span
	info         codec.Span
	logLevel     codec.Span
	idempotency  codec.Span
	correlation  codec.Span
	traceParent  codec.Span
	traceState   codec.Span
	meta         codec.Span
	cursor       codec.Span
	filter       codec.Span // notifications of subscriptions/listen
	uri          codec.Span
	named        bool // info has a name and a version
	twice        bool // a member that is read stands twice
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
// found the progress token.
func (p *callParams) read(params []byte, known *memo, token codec.Span) {
	m, ok := membersOf(params)
	if !ok {
		return
	}
	for name, start, ok := m.name(); ok; name, start, ok = m.name() {
		at := p.member(name)
		if at == &p.meta && params[start] == '{' {
			if m.i = known.recall(p, params, start, token); m.i == 0 || p.meta.Present() {
				m.i = p.readMeta(params, start)
				known.keep(p, params, start, m.i)
			}
		} else {
			m.i = skipValue(params, start)
		}
		if at != nil {
			p.set(at, codec.Span{Off: uint32(start), End: uint32(m.i)})
		}
	}
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

const metaPrefix = "io.modelcontextprotocol/"

// readMeta finds the members of the _meta that begins at params[start], and returns
// the index behind it.
func (p *callParams) readMeta(params []byte, start int) int {
	m := members{params, start + 1}
	for name, start, ok := m.name(); ok; name, start, ok = m.name() {
		at := p.metaMember(name)
		if at == &p.info && params[start] == '{' {
			m.i, p.named = readImplementation(params, start)
		} else {
			m.i = skipValue(params, start)
		}
		if at != nil {
			p.set(at, codec.Span{Off: uint32(start), End: uint32(m.i)})
		}
	}
	return m.i + 1
}

// metaMember gives the place of a member of _meta, nil for one that nobody reads.
func (p *callParams) metaMember(name []byte) *codec.Span {
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
