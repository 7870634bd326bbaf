package mcp

import "github.com/correlator-go/correlator/codec"

// callParams is where the members of a request's params stand, as spans of the
// params' own text.
type callParams struct {
	params       codec.Span
	name         codec.Span // params.name, or params.uri of resources/read
	arguments    codec.Span
	inputs       codec.Span // inputResponses
	state        codec.Span // requestState
	token        codec.Span // of _meta, as what follows
	capabilities codec.Span
	info         codec.Span
	idempotency  codec.Span
	traceParent  codec.Span
	traceState   codec.Span
	level        Level
}
