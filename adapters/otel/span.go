package otel

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/correlator-go/correlator/codec"
)

// facts are what is set on a span alone, since no metric could bear it.
type facts struct {
	id      codec.ID
	session string
	uri     string
	err     error
	input   bool // the answer asks for input
}

// begin starts a span of r and returns the context that carries it. When the
// provider panics it carries one that does nothing; it never carries the caller's own,
// which whoever ends this span would end.
func (s *side) begin(ctx context.Context, r *series, options []trace.SpanStartOption) (out context.Context) {
	defer func() {
		if recover() != nil || out == nil {
			out = nothing(ctx)
		}
	}()
	out, started := s.t.tracer.Start(ctx, r.name, options...)
	if started == nil {
		return nothing(ctx)
	}
	// Spans need not be comparable.
	carried := trace.SpanFromContext(out)
	if carried.IsRecording() != started.IsRecording() || !carried.SpanContext().Equal(started.SpanContext()) {
		out = trace.ContextWithSpan(out, started)
	}
	return out
}

// nothing gives ctx a span that does nothing and passes on what ctx carried.
func nothing(ctx context.Context) context.Context {
	ctx, _ = noop.NewTracerProvider().Tracer("").Start(ctx, "")
	return ctx
}

// end ends a span with what the operation came to.
func (s *side) end(span trace.Span, o operation, f facts, options ...trace.SpanEndOption) {
	if span == nil {
		return
	}
	defer func() { // it ends even if it does not take something
		defer drop()
		span.End(options...)
	}()
	defer drop()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(s.of(o).end...)
	if !f.id.IsAbsent() {
		span.SetAttributes(keyRequestID.String(f.id.Text()))
	}
	if f.session != "" {
		span.SetAttributes(keySession.String(f.session))
	}
	if f.uri != "" {
		span.SetAttributes(keyURI.String(f.uri))
	}
	if f.input {
		span.SetAttributes(keyOutcome.String("input_required"))
	}
	if o.fault.kind != faultNone {
		span.SetStatus(codes.Error, messageOf(f.err))
	}
}
