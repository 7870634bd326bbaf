package status

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/correlator-go/correlator/gateway"
)

// Export is where telemetry goes, by OTLP over HTTP. The zero value sends nothing.
type Export struct {
	// Endpoint is http://host:port or https://host:port of a collector.
	Endpoint string
	// Headers go with each export.
	Headers map[string]string
	// Sample is which part of the traces that begin at the gateway is recorded; those
	// that clients began are as they say. Zero is all.
	Sample float64
	// Spans and Reader take the place of Endpoint: for collectors of another kind, and
	// for tests. Spans is told on the way of answers, so it must gather them and export
	// on its own goroutine, dropping what does not fit, as sdktrace.NewBatchSpanProcessor
	// does and Endpoint's does.
	Spans  sdktrace.SpanProcessor
	Reader sdkmetric.Reader
}

// scope is the instrumentation scope of every metric and span.
const scope = "github.com/correlator-go/correlator/gateway"

// flushLimit is how long the last export may take.
const flushLimit = 5 * time.Second

// exporter records calls under the names of the conventions for MCP
// (https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/mcp.md).
type exporter struct {
	tracer         trace.Tracer
	server, client metric.Float64Histogram
	queue          metric.Float64Histogram
	shutdown       []func(context.Context) error

	mu   sync.RWMutex // guards sets
	sets map[key]*sets
}

// sets are the attributes of a key, made once.
type sets struct{ server, client metric.MeasurementOption }

func newExporter(o Export, log *slog.Logger) (*exporter, error) {
	if o.Endpoint == "" && o.Spans == nil && o.Reader == nil {
		return nil, nil
	}
	if err := o.connect(); err != nil {
		return nil, err
	}
	about := resource.NewSchemaless(attribute.String("service.name", "correlator-gateway"))
	sampler := sdktrace.ParentBased(sdktrace.AlwaysSample())
	if o.Sample > 0 && o.Sample < 1 {
		sampler = sdktrace.ParentBased(sdktrace.TraceIDRatioBased(o.Sample))
	}
	x := &exporter{sets: make(map[key]*sets)}
	traces := []sdktrace.TracerProviderOption{sdktrace.WithResource(about), sdktrace.WithSampler(sampler)}
	if o.Spans != nil {
		traces = append(traces, sdktrace.WithSpanProcessor(o.Spans))
	}
	spans := sdktrace.NewTracerProvider(traces...)
	x.tracer = spans.Tracer(scope)
	metrics := []sdkmetric.Option{sdkmetric.WithResource(about)}
	if o.Reader != nil {
		metrics = append(metrics, sdkmetric.WithReader(o.Reader))
	}
	meters := sdkmetric.NewMeterProvider(metrics...)
	x.shutdown = append(x.shutdown, spans.Shutdown, meters.Shutdown)
	meter := meters.Meter(scope)
	var failed []error
	histogram := func(name, description string) metric.Float64Histogram {
		h, err := meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description), metric.WithExplicitBucketBoundaries(bounds...))
		failed = append(failed, err)
		return h
	}
	x.server = histogram("mcp.server.operation.duration", "Calls as clients see them.")
	x.client = histogram("mcp.client.operation.duration", "Calls as upstreams answer them.")
	x.queue = histogram("correlator.gateway.queue.duration", "How long calls wait to be sent.")
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	log.Info("telemetry goes out", "endpoint", o.Endpoint)
	return x, nil
}

// connect makes what sends to Endpoint. Nothing is sent yet.
func (o *Export) connect() error {
	if o.Endpoint == "" {
		return nil
	}
	base := strings.TrimSuffix(o.Endpoint, "/")
	spans, err := otlptracehttp.New(context.Background(), otlptracehttp.WithEndpointURL(base+"/v1/traces"), otlptracehttp.WithHeaders(o.Headers))
	if err != nil {
		return err
	}
	metrics, err := otlpmetrichttp.New(context.Background(), otlpmetrichttp.WithEndpointURL(base+"/v1/metrics"), otlpmetrichttp.WithHeaders(o.Headers))
	if err != nil {
		return err
	}
	o.Spans, o.Reader = sdktrace.NewBatchSpanProcessor(spans), sdkmetric.NewPeriodicReader(metrics)
	return nil
}

func (x *exporter) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), flushLimit)
	defer cancel()
	var failed []error
	for _, end := range x.shutdown {
		failed = append(failed, end(ctx))
	}
	return errors.Join(failed...)
}

// spans are those of a call: as the gateway serves it, and as it asks the upstream.
type spans struct{ server, client trace.Span }

var w3c = propagation.TraceContext{}

// Begin implements gateway.Tracer.
func (x *exporter) Begin(b gateway.Beginning) (traceparent string, span any) {
	ctx := w3c.Extract(context.Background(), propagation.MapCarrier{"traceparent": b.Traceparent, "tracestate": b.Tracestate})
	k := keyOf(&gateway.Event{Method: b.Method, Tool: b.Tool, Peer: b.Peer, Outcome: gateway.Answered})
	name := strings.TrimSpace(k.method + " " + k.tool)
	s := &spans{}
	attributes := append(k.attributes(true), attribute.String("jsonrpc.request.id", string(b.ID.Append(nil))))
	if b.Protocol != "" {
		attributes = append(attributes, attribute.String("mcp.protocol.version", revisionName(b.Protocol)))
	}
	if b.Peer.Session != "" {
		// It is a hash: the id that the client sends lets whoever knows it speak for it.
		attributes = append(attributes, attribute.String("mcp.session.id", b.Peer.Session))
	}
	ctx, s.server = x.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attributes...))
	ctx, s.client = x.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(k.attributes(false)...))
	out := propagation.MapCarrier{}
	w3c.Inject(ctx, out)
	return out["traceparent"], s
}

// revisionName is a revision of MCP, which is a date; what else a client may have written is
// not told.
func revisionName(text string) string {
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return other
	}
	return text
}

// call records a call that is over.
func (x *exporter) call(e *gateway.Event) {
	k := keyOf(e)
	set := x.setsOf(k)
	ctx := context.Background()
	s, traced := e.Span.(*spans)
	if traced {
		ctx = trace.ContextWithSpan(ctx, s.server)
	}
	x.server.Record(ctx, (e.Waited + e.Took).Seconds(), set.server)
	if e.Upstream != "" {
		x.queue.Record(ctx, e.Waited.Seconds(), set.client)
		if e.Sent {
			x.client.Record(ctx, e.Took.Seconds(), set.client)
		}
	}
	if !traced {
		return
	}
	end := time.Now()
	for _, one := range []trace.Span{s.client, s.server} {
		one.SetAttributes(attribute.String("correlator.upstream", e.Upstream), attribute.Float64("correlator.queue.duration", e.Waited.Seconds()),
			attribute.Bool("correlator.sent", e.Sent))
		if k.failure != "" {
			one.SetAttributes(attribute.String("error.type", k.failure))
			one.SetStatus(codes.Error, k.failure)
		}
		one.End(trace.WithTimestamp(end))
	}
}

func (x *exporter) setsOf(k key) *sets {
	x.mu.RLock()
	s := x.sets[k]
	x.mu.RUnlock()
	if s != nil {
		return s
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.sets) >= seriesMost && k.tool != "" {
		k.tool = other
	}
	if s = x.sets[k]; s == nil {
		s = &sets{
			server: metric.WithAttributeSet(attribute.NewSet(k.attributes(true)...)),
			client: metric.WithAttributeSet(attribute.NewSet(k.attributes(false)...)),
		}
		x.sets[k] = s
	}
	return s
}

// attributes are those of the conventions; the transport is the client's, so it is the
// server's side alone that has it.
func (k key) attributes(server bool) []attribute.KeyValue {
	out := make([]attribute.KeyValue, 0, 6)
	add := func(name, value string) {
		if value != "" {
			out = append(out, attribute.String(name, value))
		}
	}
	add("mcp.method.name", k.method)
	add("correlator.upstream", k.upstream)
	switch {
	case k.tool != "" && k.method == "prompts/get":
		add("gen_ai.prompt.name", k.tool)
	case k.tool != "":
		add("gen_ai.tool.name", k.tool)
		add("gen_ai.operation.name", "execute_tool")
	}
	add("error.type", k.failure)
	if strings.HasPrefix(k.failure, "-") {
		add("rpc.response.status_code", k.failure)
	}
	if server {
		add("network.transport", k.transport)
	}
	return out
}
