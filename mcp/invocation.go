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
	at          int64
	caller      Caller
	correlation Correlation
	frame       []byte // what of the request is its own, see kept
	in          kept
	meta        *metaText // nil for none
	server      *Server
	peer        *peer  // what a client of the older era said once; nil in the modern one
	before      *round // what came of the rounds before; nil in the first
	target      entry  // *tool, *resource, *template or *prompt; nil for a completion
	level       Level
}

// round is what the rounds before one left.
type round struct {
	number int
	issued int64 // milliseconds since 1970; 0 when nobody knew
	state  string
	inputs []keyed // answers, in the older era
}

// keyed is one answer to a question.
type keyed struct {
	key   string
	value []byte
}

// ID names this run.
func (v *Invocation) ID() InvocationID { return v.id }

// Exchange is where the answer goes.
func (v *Invocation) Exchange() ExchangeID { return v.id.Exchange() }

// Method is the method called.
func (v *Invocation) Method() string {
	switch v.target.(type) {
	case *tool:
		return MethodCallTool
	case *resource, *template:
		return MethodReadResource
	case *prompt:
		return MethodGetPrompt
	}
	return MethodComplete
}

// Tool is the name of the tool, "" unless the method is tools/call.
func (v *Invocation) Tool() string {
	if t, ok := v.target.(*tool); ok {
		return t.Name
	}
	return ""
}

// Prompt is the name of the prompt, "" unless the method is prompts/get.
func (v *Invocation) Prompt() string {
	if p, ok := v.target.(*prompt); ok {
		return p.Name
	}
	return ""
}

// Name is the name of the tool or the prompt, or the URI of the resource.
func (v *Invocation) Name() string { return decodeString(v.in.name.Of(v.frame)) }

// Caller is who called.
func (v *Invocation) Caller() Caller { return v.caller }

// Correlation is the value by which the request's traces are found.
func (v *Invocation) Correlation() Correlation { return v.correlation }

// Revision is that of the request.
func (v *Invocation) Revision() Revision {
	if v.peer != nil {
		return v.peer.revision
	}
	return Modern
}

func (v *Invocation) isModern() bool { return v.peer == nil }

// Params is the JSON text of the params, nil when there are none. It may have to be
// put together, so call it once.
func (v *Invocation) Params() json.RawMessage {
	params := v.frame[:v.in.params:v.in.params]
	if len(params) == 0 {
		return nil
	}
	if !v.in.shared {
		return params
	}
	text := make([]byte, 0, len(params)+len(v.meta.text)+v.in.token.Len())
	text = v.meta.with(append(text, params[:v.in.metaAt]...), v.in.token.Of(v.frame))
	return append(text, params[v.in.metaAt:]...)
}

// rawID is the JSON text of the request's id.
func (v *Invocation) rawID() []byte { return v.frame[v.in.params:v.in.id] }

// RequestID is the peer's id of the request, a string or an integer.
func (v *Invocation) RequestID() codec.ID { return idOf(v.rawID()) }

// ProgressToken is what progress is reported under; absent when the client did
// not ask for any.
func (v *Invocation) ProgressToken() codec.ID { return idOf(v.in.token.Of(v.frame)) }

// LogLevel is the lowest level of which the client wants log lines, LevelNone when
// it wants none.
func (v *Invocation) LogLevel() Level { return v.level }

// IdempotencyKey is the same for a request that is sent again; "" when the client
// gave none, or one that is not 1 to 128 visible ASCII bytes.
func (v *Invocation) IdempotencyKey() string {
	key := decodeString(v.metaMember(func(m *metaText) codec.Span { return m.idempotency }))
	if !isVisible(key) {
		return ""
	}
	return key
}

// ClientInfo is what the client calls itself; nothing is to be decided by it. It is
// false when it did not say.
func (v *Invocation) ClientInfo() (Implementation, bool) {
	text := v.metaMember(func(m *metaText) codec.Span { return m.info })
	if v.peer != nil {
		text = v.peer.info
	}
	var info Implementation
	return info, text != nil && codec.DecodeValue(text, &info) == nil
}

// ClientCapabilities is what the client declared.
func (v *Invocation) ClientCapabilities() ClientCapabilities {
	var c ClientCapabilities
	if text := v.rawCapabilities(); text != nil && codec.DecodeValue(text, &c) != nil {
		return ClientCapabilities{}
	}
	return c
}

func (v *Invocation) rawCapabilities() []byte {
	if v.peer != nil {
		return v.peer.capabilities
	}
	return v.metaMember(func(m *metaText) codec.Span { return m.capabilities })
}

// Arguments is the JSON text of the arguments, {} when there are none.
func (v *Invocation) Arguments() json.RawMessage {
	if !v.in.arguments.Present() {
		return emptyObject
	}
	return v.in.arguments.Of(v.frame)
}

var emptyObject = json.RawMessage("{}")

// Input is the client's answer to the input request of that key: the JSON text of
// an ElicitResult, a SamplingResult or a RootsResult. It is false when there is
// none. What a client answers is to be checked like its arguments.
func (v *Invocation) Input(key string) (json.RawMessage, bool) {
	if v.before != nil {
		for _, in := range v.before.inputs {
			if in.key == key {
				return in.value, true
			}
		}
	}
	if v.in.inputs.Present() {
		if value := member(v.in.inputs.Of(v.frame), key); value != nil {
			return value, true
		}
	}
	return nil, false
}

// State is what the handler's InputRequired said in the round before, "" in the
// first round.
func (v *Invocation) State() string {
	if v.before == nil {
		return ""
	}
	return v.before.state
}

// Round counts how often input was asked for, as far as the request's state tells:
// 0 in the first round.
func (v *Invocation) Round() int {
	if v.before == nil {
		return 0
	}
	return v.before.number
}

// Variable is the part of the resource's URI that a variable of its template took,
// decoded; "" when there is no such variable.
func (v *Invocation) Variable(name string) string {
	var value string
	if t, ok := v.target.(*template); ok {
		t.pattern.match(v.Name(), func(n, part string) {
			if n == name {
				value = part
			}
		})
	}
	return value
}

// PromptArguments are the arguments of prompts/get.
func (v *Invocation) PromptArguments() map[string]string {
	var arguments map[string]string
	if codec.DecodeValue(v.Arguments(), &arguments) != nil {
		return nil
	}
	return arguments
}
