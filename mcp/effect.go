package mcp

import "github.com/correlator-go/correlator/codec"

// EffectKind says what is to be done. The set is closed, and grows only in a
// major version.
type EffectKind uint8

// The kinds of effect, and which fields of Effect they use beside Kind and
// Exchange.
const (
	// Admitted is a fact for telemetry: the request was taken. It comes before
	// the request's first other effect. Method, Correlation, ID.
	Admitted EffectKind = iota + 1
	// Write sends Frame to the exchange, or to the session when Exchange is 0.
	// Final, Code and Refusal say what the frame is.
	Write
	// Start runs a handler: Perform with Run, whose end is told by Finished,
	// Crashed or TimedOut. Run, Invocation.
	Start
	// Cancel signals the handler of Invocation, and withdraws the asks of
	// Invocation that are open. What it still gives is ignored. The handler may
	// not run yet, or not any more. Invocation.
	Cancel
	// Close says that nothing follows on the exchange. Correlation.
	Close
	// Ask sends a request of the older era to the client and lets the exchange's
	// stream carry it: register a call, write it, and tell by Answered what
	// became of it. Invocation, Key, Method, Frame (the params; nil for none).
	Ask
	// Resolve hands over a response of the older era that came in as a frame: it
	// settles the Ask that went out under its id. ID, Frame (the result) or
	// Err. Both are borrowed like the frame they came in. When nothing waits for
	// it, it is late: counted and dropped.
	Resolve

	lastEffect = Resolve
)

// String gives the lower-case name of k.
func (k EffectKind) String() string {
	return [...]string{"none", "admitted", "write", "start", "cancel", "close", "ask", "resolve"}[min(k, lastEffect+1)%(lastEffect+1)]
}

// Effect is one thing to be done, in the order given. It is a struct with a kind,
// not an interface, so that a step allocates only what it writes.
type Effect struct {
	// What is to be done, where, and for which run.
	Kind       EffectKind
	Exchange   ExchangeID
	Invocation InvocationID
	// Run is the handler to run.
	Run *Invocation
	// Frame is one JSON object without a newline. Whoever takes the effect owns
	// it, unless the kind says otherwise.
	Frame []byte
	// Method and Key name what is admitted or asked.
	Method, Key string
	// ID is the peer's id.
	ID codec.ID
	// Err is what a response failed with.
	Err *codec.Error
	// Correlation is the request's.
	Correlation Correlation
	// Code is that of an error that is written, else 0.
	Code int
	// Refusal says that the frame was refused, and where; Admitted did not come.
	Refusal Refusal
	// Final says that the frame is an answer: no other frame follows but those of
	// a batch's array, which is one frame.
	Final bool
}

// Refusal says at which step of admission a frame was refused.
type Refusal uint8

// The steps of admission at which a frame can be refused.
const (
	NotRefused    Refusal = iota
	RefusedFrame          // no JSON, no message: -32700, -32600
	RefusedDepth          // nested too deep: -32600
	RefusedMeta           // params or _meta: -32602, -32020, -32022
	RefusedMethod         // no such method, or one that this server lacks: -32601
	RefusedParams         // the method's own params: -32602, -32021, -32002
	RefusedPhase          // out of turn in the older era: -32600
	lastRefusal   = RefusedPhase
)

// String gives the lower-case name of r.
func (r Refusal) String() string {
	return [...]string{"none", "frame", "depth", "meta", "method", "params", "phase"}[min(r, lastRefusal+1)%(lastRefusal+1)]
}
