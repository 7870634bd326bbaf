package otel

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// Server returns o for a server that is observed: each request has a span whose
// parent is the context in its _meta and that the handler's context carries; each
// request and notification counts in mcp.server.operation.duration, each stream and
// each session of HTTP's older era in mcp.server.session.duration. What o.Around and
// o.Observer were goes on: Around within the span.
//
// A span begins when its request was taken and ends when its handler has returned:
// one whose handler goes on after its time was up ends later than its request. A
// request that the server answers without a handler, such as tools/list, has its span
// when it is over. The messages of a batch, which 2025-03-26 has, are not counted.
func (t *Telemetry) Server(o serve.Options, l Link) serve.Options {
	s := &server{side: t.side(true, l), around: o.Around}
	o.Around = s.run
	o.Observer = both(o.Observer, s.observe)
	return o
}

// server observes the servers of one link.
type server struct {
	*side
	around func(context.Context, serve.Run) mcp.Outcome
}

// run is serve.Options.Around. The handler runs in it once, whatever a provider does.
func (s *server) run(ctx context.Context, r serve.Run) mcp.Outcome {
	v := r.Invocation()
	inner := s.enter(ctx, r, v)
	span := trace.SpanFromContext(inner)
	o := operation{method: v.Method(), name: v.Tool() + v.Prompt(), revision: v.Revision()}
	f := facts{id: v.RequestID(), session: r.Session()}
	if o.method == mcp.MethodReadResource {
		f.uri = v.Name()
	}
	done := false
	defer func() {
		if !done { // it panics, or ends its goroutine
			o.fault.kind = faultCrashed
			s.end(span, o, f)
		}
	}()
	var out mcp.Outcome
	if s.around != nil {
		out = s.around(inner, r)
	} else {
		out = r.Perform(inner)
	}
	done = true
	o.fault, f.err = faultOfOutcome(ctx, out)
	f.input = out.Status() == mcp.InputRequested
	s.end(span, o, f)
	return out
}

// enter begins the span of a run.
func (s *server) enter(ctx context.Context, r serve.Run, v *mcp.Invocation) context.Context {
	x := starts.Get().(*starting)
	defer x.free()
	q := s.of(operation{method: v.Method(), name: v.Tool() + v.Prompt()})
	x.options = append(append(x.options[:0], q.start...), trace.WithTimestamp(r.Taken()))
	ctx = s.remote(ctx, (*incoming)(v), x)
	return s.begin(ctx, q, x.options)
}

// remote gives ctx the context that came with a request. What was current before is
// linked, as the conventions want it.
func (s *side) remote(ctx context.Context, c propagation.TextMapCarrier, x *starting) (out context.Context) {
	defer func() {
		if recover() != nil || out == nil {
			out = ctx
		}
	}()
	ambient := trace.SpanContextFromContext(ctx)
	out = s.t.o.Propagator.Extract(ctx, c)
	if ambient.IsValid() && !trace.SpanContextFromContext(out).Equal(ambient) {
		x.options = append(x.options, trace.WithLinks(trace.Link{SpanContext: ambient}))
	}
	return out
}

// starting is memory for the options of one Start, which no tracer keeps.
type starting struct{ options []trace.SpanStartOption }

var starts = sync.Pool{New: func() any { return new(starting) }}

func (x *starting) free() {
	clear(x.options)
	starts.Put(x)
}

// faultOfOutcome classifies how a handler ended, and gives the error that says more.
func faultOfOutcome(ctx context.Context, o mcp.Outcome) (fault, error) {
	if cause := context.Cause(ctx); cause != nil { // nobody hears what it came to
		if errors.Is(cause, context.DeadlineExceeded) {
			return fault{kind: faultTimeout}, cause
		}
		return fault{kind: faultCancelled}, cause
	}
	switch o.Status() {
	case mcp.Succeeded, mcp.InputRequested:
		return fault{}, nil
	case mcp.ToolFailed:
		return fault{kind: faultTool}, nil
	}
	if e := o.Err(); e != nil {
		return fault{faultPeer, int64(e.Code)}, e
	}
	return fault{faultPeer, codec.CodeInternal}, nil // that is what it is answered with
}

// observe is serve.Options.Observer.
func (s *server) observe(e serve.Event) {
	switch e.Kind {
	case serve.ExchangeEnded:
		s.exchangeEnded(&e)
	case serve.SessionEnded:
		var f fault
		if e.Reason == "failed" {
			f.kind = faultClosed
		}
		s.sessionEnded(s.t.serverSession, e.Duration, "", f)
	case serve.FrameRejected:
		s.reject(e.Problem)
	case serve.HTTPRejected:
		s.reject("http_" + e.Reason)
	}
}

func (s *server) reject(kind string) {
	defer drop()
	s.t.rejected.Add(context.Background(), 1, metric.WithAttributeSet(attribute.NewSet(append(s.base[:len(s.base):len(s.base)], keyKind.String(kind))...)))
}

// exchangeEnded counts a request or notification that is over.
func (s *server) exchangeEnded(e *serve.Event) {
	if e.Method == "" && e.Code == 0 {
		return // an answer, or a batch
	}
	o := operation{method: e.Method, name: e.Tool + e.Prompt, revision: e.Revision}
	switch {
	case e.Reason == "timed_out":
		o.fault.kind = faultTimeout
	case e.Reason == "cancelled":
		o.fault.kind = faultCancelled
	case e.Reason == "crashed":
		o.fault.kind = faultCrashed
	case e.Code != 0:
		o.fault = fault{faultPeer, int64(e.Code)}
	case e.Status == mcp.ToolFailed:
		o.fault.kind = faultTool
	}
	ctx := context.Background()
	if e.Invocation == 0 && !strings.HasPrefix(e.Method, "notifications/") {
		ctx = s.late(ctx, e.Method, e.ID, e.Trace, e.Duration, o)
	}
	s.record(ctx, s.t.serverOperation, e.Duration, o)
}

// late makes the span of a request that no handler ran for, now that it is over.
func (s *server) late(ctx context.Context, method string, id codec.ID, from mcp.Trace, took time.Duration, o operation) context.Context {
	x := starts.Get().(*starting)
	defer x.free()
	end := time.Now()
	q := s.of(operation{method: method})
	x.options = append(append(x.options[:0], q.start...), trace.WithTimestamp(end.Add(-took)))
	ctx = s.remote(ctx, (*past)(&from), x)
	ctx = s.begin(ctx, q, x.options)
	s.end(trace.SpanFromContext(ctx), o, facts{id: id}, trace.WithTimestamp(end))
	return ctx
}

// incoming is the _meta of a request as a propagator sees it.
type incoming mcp.Invocation

func (v *incoming) Set(string, string) {}
func (v *incoming) Keys() []string     { return nil }

// Get gives the text of a member of _meta. What W3C defines is checked as MCP wants
// it checked.
func (v *incoming) Get(key string) string {
	m := (*mcp.Invocation)(v)
	switch key {
	case mcp.MetaTraceParent:
		return m.Trace().Parent
	case mcp.MetaTraceState:
		return m.Trace().State
	}
	return textOf(m.Meta(key))
}

// past is the trace context of a request that is over as a propagator sees it.
type past mcp.Trace

func (t *past) Set(string, string) {}
func (t *past) Keys() []string     { return nil }

func (t *past) Get(key string) string {
	switch key {
	case mcp.MetaTraceParent:
		return t.Parent
	case mcp.MetaTraceState:
		return t.State
	}
	return ""
}

// textOf is the value of a JSON string; "" for anything else.
func textOf(text json.RawMessage) string {
	if len(text) == 0 || text[0] != '"' {
		return "" // as a rule
	}
	var s string
	if codec.DecodeValue(text, &s) != nil {
		return ""
	}
	return s
}

// both calls two observers. The first is the caller's own: if it panics the second is
// called all the same.
func both[E any](first, second func(E)) func(E) {
	if first == nil {
		return second
	}
	return func(e E) {
		defer second(e)
		first(e)
	}
}
