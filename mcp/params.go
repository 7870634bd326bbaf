package mcp

import (
	"github.com/correlator-go/correlator/codec"
)

// callParams is where the members of a request's params stand, as spans of the
// params' own text.
type callParams struct {
	params       codec.Span
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

// read finds the members of params that any method reads.
func (p *callParams) read(params []byte) {
	p.params = codec.Span{End: uint32(len(params))}
	m, ok := membersOf(params)
	if !ok {
		return
	}
	for name, value, ok := m.next(); ok; name, value, ok = m.next() {
		switch string(name) {
		case "name":
			p.set(&p.name, value)
		case "arguments":
			p.set(&p.arguments, value)
		case "_meta":
			p.set(&p.meta, value)
		case "uri":
			p.set(&p.uri, value)
		case "cursor":
			p.set(&p.cursor, value)
		case "inputResponses":
			p.set(&p.inputs, value)
		case "requestState":
			p.set(&p.state, value)
		case "notifications":
			p.set(&p.filter, value)
		}
	}
	if p.meta.Present() {
		p.readMeta(params)
	}
}

const metaPrefix = "io.modelcontextprotocol/"

func (p *callParams) readMeta(params []byte) {
	text := p.meta.Of(params)
	m, ok := membersOf(text)
	if !ok {
		return
	}
	for name, value, ok := m.next(); ok; name, value, ok = m.next() {
		value.Off += p.meta.Off
		value.End += p.meta.Off
		if len(name) > len(metaPrefix) && string(name[:len(metaPrefix)]) == metaPrefix {
			switch string(name[len(metaPrefix):]) {
			case "protocolVersion":
				p.set(&p.version, value)
			case "clientCapabilities":
				p.set(&p.capabilities, value)
			case "clientInfo":
				p.set(&p.info, value)
			case "logLevel":
				p.set(&p.logLevel, value)
			}
			continue
		}
		switch string(name) {
		case MetaProgressToken:
			p.set(&p.token, value)
		case MetaTraceParent:
			p.set(&p.traceParent, value)
		case MetaTraceState:
			p.set(&p.traceState, value)
		case MetaCorrelation:
			p.set(&p.correlation, value)
		case MetaIdempotencyKey:
			p.set(&p.idempotency, value)
		}
	}
}
