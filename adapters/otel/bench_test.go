package otel_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/correlator-go/correlator/adapters/otel"
	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/internal/invariants"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// discard takes spans and keeps none, so that what is measured is the recording.
type discard struct{}

func (discard) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (discard) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (discard) Shutdown(context.Context) error                  { return nil }
func (discard) ForceFlush(context.Context) error                { return nil }

// modes are what is switched on.
var modes = []struct {
	name           string
	metrics, spans bool
	sampler        sdktrace.Sampler
}{
	{name: "metrics", metrics: true},
	{name: "metrics and spans, unsampled", metrics: true, spans: true, sampler: sdktrace.NeverSample()},
	{name: "metrics and spans, sampled", metrics: true, spans: true, sampler: sdktrace.AlwaysSample()},
}

func providers(metrics, spans bool, sampler sdktrace.Sampler) otel.Options {
	o := otel.Options{MeterProvider: metricnoop.NewMeterProvider(), TracerProvider: noop.NewTracerProvider()}
	if metrics {
		o.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	}
	if spans {
		o.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(discard{}), sdktrace.WithSampler(sampler))
	}
	return o
}

// BenchmarkCall is a tools/call between a client and a server in one process, first
// as they are, then with both observed.
func BenchmarkCall(b *testing.B) {
	run := func(name string, t *otel.Telemetry) {
		b.Run(name, func(b *testing.B) {
			var so serve.Options
			co := client.Options{Era: client.EraModern}
			if t != nil {
				so, co = t.Server(so, otel.Stdio), t.Client(co, otel.Stdio)
			}
			d, err := mcp.NewServer(mcp.Description{Info: mcp.Implementation{Name: "bench", Version: "1"}, Tools: []mcp.ServerTool{{
				Tool:   mcp.Tool{Name: "echo"},
				Handle: func(context.Context, *mcp.Request) (*mcp.ToolResult, error) { return mcp.ToolText("x"), nil },
			}}})
			require.NoError(b, err)
			s, err := serve.New(d, so)
			require.NoError(b, err)
			defer s.Close()
			c, err := client.Connect(b.Context(), client.Stream(s.InProcess(b.Context())), co)
			require.NoError(b, err)
			defer c.Close()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.CallTool(b.Context(), "echo", nil, client.CallOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("off", nil)
	for _, m := range modes {
		t, err := otel.New(providers(m.metrics, m.spans, m.sampler))
		require.NoError(b, err)
		run(m.name, t)
	}
}

// BenchmarkClient is what one request costs at the client's side beside the call, and
// what the SDK alone takes for the same: a span, its context in _meta, a value.
func BenchmarkClient(b *testing.B) {
	params := []byte(`{"name":"echo","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`)
	event := client.CallEvent{Method: mcp.MethodCallTool, Tool: "echo", Name: "echo", Outcome: client.CallCompleted, Revision: mcp.Modern, Duration: time.Millisecond}
	for _, m := range modes {
		o := providers(m.metrics, m.spans, m.sampler)
		t, err := otel.New(o)
		require.NoError(b, err)
		x := t.Client(client.Options{}, otel.Stdio).Tracer
		b.Run(m.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ctx := x.Begin(context.Background(), event.Method, event.Name)
				x.Inject(ctx, client.NewCarrier(params))
				x.End(ctx, event)
			}
		})
		bare := newBare(o)
		b.Run(m.name+", the SDK alone", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bare.call(client.NewCarrier(params))
			}
		})
	}
}

// BenchmarkTable is what one call costs in a table that is observed.
func BenchmarkTable(b *testing.B) {
	t, err := otel.New(providers(true, false, nil))
	require.NoError(b, err)
	settled, e := t.Settled(otel.Stdio), settlement
	b.ReportAllocs()
	for b.Loop() {
		settled(e)
	}
}

var settlement = engine.Settlement{Method: mcp.MethodCallTool, Status: engine.Resolved, Sent: true, Queue: time.Microsecond, Elapsed: time.Millisecond}

// bare does with the SDK what the adapter does, for one operation known beforehand.
type bare struct {
	tracer    trace.Tracer
	histogram metric.Float64Histogram
	start     []trace.SpanStartOption
	record    []metric.RecordOption
}

func newBare(o otel.Options) *bare {
	attrs := []attribute.KeyValue{
		attribute.String("network.transport", "pipe"), attribute.String("mcp.method.name", "tools/call"),
		attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", "echo"),
	}
	h, err := o.MeterProvider.Meter("bare").Float64Histogram("h")
	if err != nil {
		panic(err)
	}
	return &bare{
		tracer: o.TracerProvider.Tracer("bare"), histogram: h,
		start:  []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attrs...)},
		record: []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(attrs...))},
	}
}

func (x *bare) call(m *client.Carrier) {
	ctx, span := x.tracer.Start(context.Background(), "tools/call echo", x.start...)
	w3c.Inject(ctx, carrying{m})
	x.histogram.Record(ctx, 0.001, x.record...)
	if span.IsRecording() {
		span.SetAttributes(attribute.String("mcp.protocol.version", "2026-07-28"))
	}
	span.End()
}

// Metrics allocate nothing beyond what the SDK does, whose recording allocates
// nothing; and the whole of a request no more than the SDK's own part.
func TestAllocations(t *testing.T) {
	if invariants.Race || invariants.Enabled {
		t.Skip("counted without the race detector and without invariants")
	}
	r, err := otel.New(providers(true, false, nil))
	require.NoError(t, err)
	settled := r.Settled(otel.Stdio)
	require.Zero(t, testing.AllocsPerRun(1000, func() { settled(settlement) }))
	observe := r.Server(serve.Options{}, otel.Stdio).Observer
	e := serve.Event{Kind: serve.ExchangeEnded, Method: mcp.MethodCallTool, Tool: "echo", Invocation: 1, Status: mcp.Succeeded, Revision: mcp.Modern}
	require.Zero(t, testing.AllocsPerRun(1000, func() { observe(e) }))

	params := []byte(`{"name":"echo"}`)
	event := client.CallEvent{Method: mcp.MethodCallTool, Tool: "echo", Name: "echo", Outcome: client.CallCompleted, Revision: mcp.Modern}
	for _, m := range modes {
		o := providers(m.metrics, m.spans, m.sampler)
		r, err := otel.New(o)
		require.NoError(t, err)
		x, bare := r.Client(client.Options{}, otel.Stdio).Tracer, newBare(o)
		ours := testing.AllocsPerRun(1000, func() {
			ctx := x.Begin(context.Background(), event.Method, event.Name)
			x.Inject(ctx, client.NewCarrier(params))
			x.End(ctx, event)
		})
		theirs := testing.AllocsPerRun(1000, func() { bare.call(client.NewCarrier(params)) })
		require.LessOrEqual(t, ours, theirs, m.name)
	}
}
