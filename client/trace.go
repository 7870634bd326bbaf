package client

import (
	"bytes"
	"context"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// Tracer follows the requests of a client, for distributed tracing. Its methods are
// called by the goroutine of the request, in this order, and by many at once; they
// must not block. What they panic with is dropped.
type Tracer interface {
	// Begin is told of a request that is about to be sent, and returns the context
	// that it is sent with: ctx, or one made from it. Over HTTP that of the HTTP
	// request has its values. name is CallEvent.Name.
	Begin(ctx context.Context, method, name string) context.Context
	// Inject puts what the server is to know of the trace into the request's _meta:
	// traceparent, tracestate and baggage, as MCP has it (SEP-414). ctx is Begin's.
	// m is borrowed until Inject returns.
	Inject(ctx context.Context, m *Carrier)
	// End is told how the request ended. ctx is Begin's.
	End(ctx context.Context, e CallEvent)
}

// Carrier takes what goes into the _meta of one request. A Tracer gets one; NewCarrier
// makes one for a request that is sent without a Client.
type Carrier struct {
	params  []byte // of the request, as they are; borrowed
	members []byte
	given   mcp.Meta // what stands in _meta already, once it was read
	out     []byte   // params with members
}

// NewCarrier makes a Carrier for a request with these params: the JSON text of an
// object, nil for none. They are borrowed until Params returns.
func NewCarrier(params []byte) *Carrier { return &Carrier{params: params} }

// Params is the params with what was set, in memory of the Carrier's own; what they
// were made with if nothing was. Its error is that of codec.AppendParamsWithMeta.
func (m *Carrier) Params() ([]byte, error) {
	if len(m.members) == 0 {
		return m.params, nil
	}
	var err error
	m.out, err = codec.AppendParamsWithMeta(m.out[:0], m.params, m.members)
	return m.out, err
}

var carriers = sync.Pool{New: func() any { return new(Carrier) }}

// Set puts a member into _meta: value is a text, and written as a JSON string. What
// the request has already, because the caller gave it or another Set, stays as it
// is.
func (m *Carrier) Set(key, value string) {
	old := len(m.members)
	text := m.members
	if old > 0 {
		text = append(text, ',')
	}
	at := len(text)
	text = codec.AppendString(text, key)
	quoted := text[at:]
	text = append(text, ':')
	// No value can hold what is sought: its quotes are escaped.
	if bytes.Contains(m.members, text[at:]) || m.has(key, quoted) {
		return
	}
	m.members = codec.AppendString(text, value)
}

// has reports whether _meta has a member of that name, which quoted is the JSON text
// of. That is rare, so that the params are read only if they, or an escape in them,
// may hold it.
func (m *Carrier) has(key string, quoted []byte) bool {
	escapes := bytes.Contains(m.params, []byte(`\u`)) || bytes.Contains(m.params, []byte(`\/`))
	if !escapes && len(quoted) == len(key)+2 && !bytes.Contains(m.params, quoted) {
		return false
	}
	if m.given == nil {
		var p struct {
			Meta mcp.Meta `json:"_meta"`
		}
		if len(m.params) > 0 && codec.DecodeValue(m.params, &p) == nil {
			m.given = p.Meta
		}
	}
	_, ok := m.given[key]
	return ok
}

// fill gives params with what t puts into their _meta. They are good until free.
func (m *Carrier) fill(ctx context.Context, t Tracer, params []byte) []byte {
	m.params = params
	if !inject(ctx, t, m) {
		return params
	}
	if out, err := m.Params(); err == nil {
		return out
	}
	return params // whoever sends them says what is wrong
}

// mostKept is how much memory a Carrier keeps for the next request, in bytes.
const mostKept = 64 << 10

// free gives m back. Links copy the params before a call returns.
func (m *Carrier) free() {
	kept := Carrier{members: m.members[:0]}
	if cap(m.out) <= mostKept {
		kept.out = m.out[:0]
	}
	if cap(m.members) > mostKept {
		kept.members = nil
	}
	*m = kept
	carriers.Put(m)
}

// begin lets t begin; one that panics changes nothing.
func begin(ctx context.Context, t Tracer, e *CallEvent) (out context.Context) {
	defer func() {
		if recover() != nil || out == nil {
			out = ctx
		}
	}()
	return t.Begin(ctx, e.Method, e.Name)
}

// inject reports whether t put in what it wanted to.
func inject(ctx context.Context, t Tracer, m *Carrier) (whole bool) {
	defer func() { _ = recover() }()
	t.Inject(ctx, m)
	return true
}

func end(ctx context.Context, t Tracer, e *CallEvent) {
	defer func() { _ = recover() }()
	t.End(ctx, *e)
}

// name is what a request is about, as Envelope.Name of package codec says; "" where
// nothing of that kind is.
func (r *request) name() string {
	if r.about != "" {
		return r.about
	}
	switch r.method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt:
		var p struct {
			Name string `json:"name"`
		}
		if codec.DecodeValue(r.params, &p) == nil {
			return p.Name
		}
	case mcp.MethodReadResource, mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		var p struct {
			URI string `json:"uri"`
		}
		if codec.DecodeValue(r.params, &p) == nil {
			return p.URI
		}
	}
	return ""
}
