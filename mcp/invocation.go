package mcp

import (
	"encoding/json"

	"github.com/correlator-go/correlator/codec"
)

// Invocation is one handler to be run, with everything that it may want to know.
// It owns its bytes and never changes, so that it may be read by any goroutine
// for as long as anybody likes. What it gives out must not be written to.
type Invocation struct {
	id          InvocationID
	method      string
	revision    Revision
	caller      Caller
	correlation Correlation
	frame       []byte // the id and the params of the request, copied
	rawID       codec.Span
	in          callParams // spans of frame
	peer        *peer      // what a client of the older era said once; nil in the modern one
	inputs      []keyed    // answers of the older era
	state       string     // of the round before
	round       int
	tool        *tool
	resource    *resource
	template    *template
	prompt      *prompt
	complete    CompleteHandler
}

// ID names this run.
func (v *Invocation) ID() InvocationID { return v.id }

// Exchange is where the answer goes.
func (v *Invocation) Exchange() ExchangeID { return v.id.Exchange() }

// Method is the method called.
func (v *Invocation) Method() string { return v.method }

// Tool is the name of the tool, "" unless the method is tools/call.
func (v *Invocation) Tool() string {
	if v.tool == nil {
		return ""
	}
	return v.tool.Name
}

// Caller is who called.
func (v *Invocation) Caller() Caller { return v.caller }

// Correlation is the value by which the request's traces are found.
func (v *Invocation) Correlation() Correlation { return v.correlation }

// Revision is that of the request.
func (v *Invocation) Revision() Revision { return v.revision }

// RequestID is the peer's id of the request, a string or an integer.
func (v *Invocation) RequestID() codec.ID { return idOf(v.rawID.Of(v.frame)) }

// ProgressToken is what progress is reported under; absent when the client did
// not ask for any.
func (v *Invocation) ProgressToken() codec.ID { return idOf(v.in.token.Of(v.frame)) }

// Name is the name of the tool or prompt, or the URI of the resource.
func (v *Invocation) Name() string { return decodeString(v.in.name.Of(v.frame)) }

// Params is the JSON text of the params.
func (v *Invocation) Params() json.RawMessage { return v.in.params.Of(v.frame) }

// Arguments is the JSON text of the arguments, {} when there are none.
func (v *Invocation) Arguments() json.RawMessage {
	if !v.in.arguments.Present() {
		return emptyObject
	}
	return v.in.arguments.Of(v.frame)
}

var emptyObject = []byte("{}")
