package otel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
)

// Client returns o for a client that is observed: each of its requests, those of the
// handshake and of subscriptions too, has a span, carries the trace context in _meta
// and counts in mcp.client.operation.duration. What o.Tracer and o.Conn.Observer were
// goes on beside it: the other tracer begins later and ends earlier, and what it puts
// into _meta comes first.
func (t *Telemetry) Client(o client.Options, l Link) client.Options {
	s := t.side(false, l)
	s.watch()
	o.Tracer = &tracer{side: s, next: o.Tracer}
	o.Conn.Observer = both(o.Conn.Observer, s.queued)
	return o
}

// Connect is client.Connect with t.Client(o, l), and counts the session in
// mcp.client.session.duration when it has ended. A goroutine waits for that.
func (t *Telemetry) Connect(ctx context.Context, way client.Transport, o client.Options, l Link) (*client.Client, error) {
	began := time.Now()
	c, err := client.Connect(ctx, way, t.Client(o, l))
	if err != nil {
		return nil, err
	}
	go func() {
		<-c.Done()
		var f fault
		if gone, ok := errors.AsType[*conn.PeerGone](c.Err()); ok && gone != nil || !errors.Is(c.Err(), conn.ErrClosed) {
			f.kind = faultClosed
		}
		t.side(false, l).sessionEnded(t.clientSession, time.Since(began), c.Revision(), f)
	}()
	return c, nil
}

// tracer is the client.Tracer of one side of a link.
type tracer struct {
	side *side
	next client.Tracer
}

var _ client.Tracer = (*tracer)(nil)

// Begin begins the span. The context that it returns has a span of its own whatever
// the provider does, so that End never ends one of the caller's.
func (x *tracer) Begin(ctx context.Context, method, name string) context.Context {
	s := x.side
	s.inFlight.Add(1)
	r := s.of(spanOf(method, name))
	ctx = s.begin(ctx, r, r.start)
	if x.next == nil {
		return ctx
	}
	// The other may put a span of its own into the context.
	return beginNext(context.WithValue(ctx, x, trace.SpanFromContext(ctx)), x.next, method, name)
}

// beginNext lets another tracer begin; one that panics changes nothing.
func beginNext(ctx context.Context, next client.Tracer, method, name string) (out context.Context) {
	defer func() {
		if recover() != nil || out == nil {
			out = ctx
		}
	}()
	return next.Begin(ctx, method, name)
}

// Inject writes the trace context into _meta.
func (x *tracer) Inject(ctx context.Context, m *client.Carrier) {
	if x.next != nil {
		injectNext(ctx, x.next, m)
	}
	x.side.t.inject(ctx, m)
}

func injectNext(ctx context.Context, next client.Tracer, m *client.Carrier) {
	defer drop()
	next.Inject(ctx, m)
}

// End ends the span and records the duration.
func (x *tracer) End(ctx context.Context, e client.CallEvent) {
	s := x.side
	s.inFlight.Add(-1)
	own := trace.SpanFromContext(ctx)
	if x.next != nil {
		defer x.next.End(ctx, e) // its panic is dropped by the client
		own, _ = ctx.Value(x).(trace.Span)
	}
	o := spanOf(e.Method, e.Name)
	o.revision = e.Revision
	switch e.Outcome {
	case client.CallFailed:
		o.fault = faultOf(e.Err)
	case client.CallToolFailed:
		o.fault.kind = faultTool
	}
	s.record(ctx, s.t.clientOperation, e.Duration, o)
	s.end(own, o, facts{id: e.ID, session: e.Session, uri: uriOf(e.Method, e.Name), err: e.Err, input: e.Outcome == client.CallInputRequired})
}

// spanOf is the operation of a request, as far as it is known at its beginning.
func spanOf(method, name string) operation {
	if method != mcp.MethodCallTool && method != mcp.MethodGetPrompt {
		name = "" // a URI is no name of low cardinality
	}
	return operation{method: method, name: name}
}

func uriOf(method, name string) string {
	switch method {
	case mcp.MethodReadResource, mcp.MethodSubscribe, mcp.MethodUnsubscribe:
		return name
	}
	return ""
}

// outgoing is a client.Carrier as a propagator sees it.
type outgoing client.Carrier

var _ propagation.TextMapCarrier = (*outgoing)(nil)

func (m *outgoing) Set(key, value string) { (*client.Carrier)(m).Set(key, value) }
func (m *outgoing) Get(string) string     { return "" }
func (m *outgoing) Keys() []string        { return nil }
