package otel_test

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/correlator-go/correlator/adapters/otel"
	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// Providers that panic wherever they can.
type (
	badMeters     struct{ metricnoop.MeterProvider }
	badMeter      struct{ metricnoop.Meter }
	badHistogram  struct{ metricnoop.Float64Histogram }
	badTracers    struct{ noop.TracerProvider }
	badTracer     struct{ noop.Tracer }
	badSpans      struct{ noop.TracerProvider }
	badSpanTracer struct{ noop.Tracer }
	badSpan       struct{ noop.Span }
	badPropagator struct{ propagation.TraceContext }
	nilTracers    struct{ noop.TracerProvider }
	nilTracer     struct{ noop.Tracer }
)

func (badMeters) Meter(string, ...metric.MeterOption) metric.Meter { return badMeter{} }
func (badMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return badHistogram{}, nil
}
func (badMeter) RegisterCallback(metric.Callback, ...metric.Observable) (metric.Registration, error) {
	panic("callback")
}
func (badHistogram) Record(context.Context, float64, ...metric.RecordOption) { panic("record") }
func (badTracers) Tracer(string, ...trace.TracerOption) trace.Tracer         { return badTracer{} }
func (badTracer) Start(context.Context, string, ...trace.SpanStartOption) (context.Context, trace.Span) {
	panic("start")
}
func (badSpans) Tracer(string, ...trace.TracerOption) trace.Tracer { return badSpanTracer{} }
func (badSpanTracer) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	return ctx, badSpan{} // and it does not stand in the context
}
func (badSpan) IsRecording() bool                                        { return true }
func (badSpan) SetStatus(codes.Code, string)                             { panic("status") }
func (badSpan) End(...trace.SpanEndOption)                               { panic("end") }
func (badPropagator) Inject(context.Context, propagation.TextMapCarrier) { panic("inject") }
func (badPropagator) Extract(context.Context, propagation.TextMapCarrier) context.Context {
	panic("extract")
}
func (nilTracers) Tracer(string, ...trace.TracerOption) trace.Tracer { return nilTracer{} }
func (nilTracer) Start(context.Context, string, ...trace.SpanStartOption) (context.Context, trace.Span) {
	return nil, nil
}

// Whatever a provider does, calls go through, handlers run once, and the caller's own
// span is not ended.
func TestProvidersHarmNoCall(t *testing.T) {
	for name, change := range map[string]func(*otel.Options){
		"meters":     func(o *otel.Options) { o.MeterProvider = badMeters{} },
		"tracers":    func(o *otel.Options) { o.TracerProvider = badTracers{} },
		"spans":      func(o *otel.Options) { o.TracerProvider = badSpans{} },
		"no spans":   func(o *otel.Options) { o.TracerProvider = nilTracers{} },
		"propagator": func(o *otel.Options) { o.Propagator = badPropagator{} },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, change)
			c, s, _ := pair(t, r, client.EraModern, serve.Options{})
			runs := 0
			s.RegisterTool(mcp.ServerTool{Tool: mcp.Tool{Name: "once"}, Handle: func(context.Context, *mcp.Request) (*mcp.ToolResult, error) {
				runs++
				return mcp.ToolText("done"), nil
			}})
			ctx, root := r.tracer.Start(t.Context(), "root")
			result, err := c.CallTool(ctx, "once", nil, client.CallOptions{})
			require.NoError(t, err)
			require.Equal(t, "done", result.Content[0].Text)
			_, err = c.CallTool(ctx, "refuse", nil, client.CallOptions{})
			require.Error(t, err)
			_, err = c.ListTools(ctx, nil, client.CallOptions{})
			require.NoError(t, err)
			require.NotPanics(t, func() { r.Settled(otel.Link{})(engine.Settlement{Method: "ping", Status: engine.Resolved}) })
			require.True(t, root.IsRecording(), "the caller's span goes on")
			root.End()
			require.NoError(t, c.Close())
			s.Close()
			require.Equal(t, 1, runs)
		})
	}
}

// An instrument that cannot be made is New's error.
type refusingMeters struct{ metricnoop.MeterProvider }
type refusingMeter struct{ metricnoop.Meter }

var errRefused = errors.New("refused")

func (refusingMeters) Meter(string, ...metric.MeterOption) metric.Meter { return refusingMeter{} }
func (refusingMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return nil, errRefused
}

func TestNewFails(t *testing.T) {
	_, err := otel.New(otel.Options{MeterProvider: refusingMeters{}})
	require.ErrorIs(t, err, errRefused)
}

// inner is a tracer, an observer and an Around of the user's own.
type inner struct {
	mu    sync.Mutex
	spans trace.Tracer
	words []string
}

func (x *inner) say(word string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.words = append(x.words, word)
}

func (x *inner) Begin(ctx context.Context, method, _ string) context.Context {
	ctx, _ = x.spans.Start(ctx, "inner "+method)
	return ctx
}
func (x *inner) Inject(_ context.Context, m *client.Carrier) { m.Set("inner", "1") }
func (x *inner) End(ctx context.Context, e client.CallEvent) {
	trace.SpanFromContext(ctx).End()
	x.say("end " + e.Method)
	panic("the other's own")
}

// What stood in the options before goes on: both spans end, both write into _meta,
// and an inner one that panics keeps nothing from ours.
func TestBesideOthers(t *testing.T) {
	r := newRig(t)
	x := &inner{spans: r.tracer}
	metas := make(chan string, 1)
	s := server(t, r, nil, serve.Options{
		Observer: func(e serve.Event) { x.say(e.Kind.String()); panic("the other's own") },
		Around: func(ctx context.Context, q serve.Run) mcp.Outcome {
			metas <- string(q.Invocation().Meta("inner")) + " " + strconv.FormatBool(trace.SpanFromContext(ctx).IsRecording())
			return q.Perform(ctx)
		},
	})
	o := options(client.EraModern)
	o.Tracer = x
	o.Conn.Observer = func(engine.Settlement) { x.say("settled") }
	c, err := client.Connect(t.Context(), client.Stream(s.InProcess(context.Background())), r.Client(o, otel.Stdio))
	require.NoError(t, err)
	finish(t, c)
	_, err = c.CallTool(t.Context(), "echo", nil, client.CallOptions{})
	require.NoError(t, err)
	require.Equal(t, `"1" true`, <-metas)
	ours := r.span(trace.SpanKindClient, "tools/call echo")
	theirs := r.span(trace.SpanKindInternal, "inner tools/call")
	require.Equal(t, ours.SpanContext.SpanID(), theirs.Parent.SpanID())
	require.Equal(t, theirs.SpanContext.SpanID(), r.span(trace.SpanKindServer, "tools/call echo").Parent.SpanID(), "the nearest is the parent")
	require.Eventually(t, func() bool { return len(r.counts(serverOperation)) == 2 && len(r.counts(clientOperation)) == 2 }, eventually, time.Millisecond)
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, word := range []string{"settled", "end tools/call", "exchange.closed", "invocation.completed"} {
		require.Contains(t, x.words, word)
	}
}

// Many callers at once: everything counts once, and each server's span has a client's
// span of its own as its parent.
func TestConcurrently(t *testing.T) {
	for name, era := range eras {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			c, _, _ := pair(t, r, era, serve.Options{})
			r.take()
			const callers, calls = 32, 16
			tools := []string{"echo", "fail", "refuse", "panic"}
			var all sync.WaitGroup
			for i := range callers {
				all.Go(func() {
					for j := range calls {
						_, _ = c.CallTool(t.Context(), tools[(i+j)%len(tools)], nil, client.CallOptions{})
					}
				})
			}
			all.Go(func() {
				for range 20 {
					r.collect()
				}
			})
			all.Wait()
			require.Eventually(t, func() bool { return total(r.counts(serverOperation), "tools/call") == callers*calls }, eventually, 5*time.Millisecond)
			require.EqualValues(t, callers*calls, total(r.counts(clientOperation), "tools/call"))
			ours, parents := map[trace.SpanID]bool{}, map[trace.SpanID]bool{}
			for _, s := range r.take() {
				if !strings.HasPrefix(s.Name, "tools/call ") {
					continue // the server ends those of the handshake when it has answered
				}
				switch s.SpanKind {
				case trace.SpanKindClient:
					ours[s.SpanContext.SpanID()] = true
				case trace.SpanKindServer:
					parents[s.Parent.SpanID()] = true
				}
			}
			require.Len(t, ours, callers*calls)
			require.True(t, maps.Equal(ours, parents))
			require.Zero(t, r.sums("correlator.calls.in_flight")["network.transport=pipe"])
		})
	}
}

func total(counts map[string]uint64, method string) (n uint64) {
	for w, c := range counts {
		if containsWord(w, "mcp.method.name="+method) {
			n += c
		}
	}
	return n
}

var w3c = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})

// carrying is a client.Carrier for a propagator.
type carrying struct{ *client.Carrier }

func (carrying) Get(string) string { return "" }
func (carrying) Keys() []string    { return nil }
