package otel

import (
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/correlator-go/correlator/mcp"
)

// ScopeName is the instrumentation scope of every metric and span.
const ScopeName = "github.com/correlator-go/correlator/adapters/otel"

// Limits, used where Options say nothing.
const (
	// DefaultMaxNames is how many tools and prompts each link tells apart.
	DefaultMaxNames = 256
	// DefaultMaxCodes is how many codes of JSON-RPC errors each link tells apart.
	DefaultMaxCodes = 32
)

// Options of a Telemetry. The zero value takes the global providers, as they are
// when New is called, and the formats of W3C.
type Options struct {
	// MeterProvider makes the instruments. Nil is the global one;
	// metric/noop.NewMeterProvider() turns metrics off.
	MeterProvider metric.MeterProvider
	// TracerProvider makes the spans. Nil is the global one;
	// trace/noop.NewTracerProvider() turns spans off, and what a context carries is
	// still passed on.
	TracerProvider trace.TracerProvider
	// Propagator writes and reads _meta. Nil is traceparent, tracestate and baggage,
	// which is what MCP names; other keys of other propagators are carried too.
	Propagator propagation.TextMapPropagator
	// Methods are told apart beside those of MCP: extensions, or another protocol
	// over conn. Any other is "_OTHER".
	Methods []string
	// MaxNames is how many tools and prompts each link tells apart, in the order in
	// which they come; those beyond it are "_OTHER", in spans too. Zero is
	// DefaultMaxNames, negative tells none apart.
	MaxNames int
	// MaxCodes is the same for the codes of JSON-RPC errors. Zero is DefaultMaxCodes,
	// negative tells none apart.
	MaxCodes int
}

// Link is what carries a session, in the words of the conventions. What is empty is
// left out.
type Link struct {
	// Transport is network.transport: "pipe", "tcp", "unix" or "quic".
	Transport string
	// Protocol and ProtocolVersion are network.protocol.name and .version, such as
	// "http" and "2".
	Protocol, ProtocolVersion string
	// Address and Port are the server's, at the client's side alone.
	Address string
	Port    int
}

// Links by the table "Recording MCP transport" of the conventions.
var (
	Stdio     = Link{Transport: "pipe"}
	Unix      = Link{Transport: "unix"}
	TCP       = Link{Transport: "tcp"}
	HTTP      = Link{Transport: "tcp", Protocol: "http"}
	WebSocket = Link{Transport: "tcp", Protocol: "websocket"}
)

func (l Link) attributes() []attribute.KeyValue {
	var out []attribute.KeyValue
	for _, a := range []struct {
		key   attribute.Key
		value string
	}{{keyTransport, l.Transport}, {keyProtocol, l.Protocol}, {keyVersion, l.ProtocolVersion}, {keyAddress, l.Address}} {
		if a.value != "" {
			out = append(out, a.key.String(a.value))
		}
	}
	if l.Address != "" && l.Port != 0 {
		out = append(out, keyPort.Int(l.Port))
	}
	return out
}

// Telemetry observes any number of clients, servers and connections. It is safe for
// concurrent use, and has nothing to close: the providers are the caller's.
type Telemetry struct {
	o       Options
	meter   metric.Meter
	tracer  trace.Tracer
	methods map[string]string

	clientOperation, serverOperation metric.Float64Histogram
	clientSession, serverSession     metric.Float64Histogram
	queue                            metric.Float64Histogram
	rejected                         metric.Int64Counter

	mu    sync.Mutex // protects sides
	sides map[sideKey]*side
}

type sideKey struct {
	server bool
	link   Link
}

// New makes a Telemetry. Its error is the meter's, about an instrument.
func New(o Options) (*Telemetry, error) {
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.Propagator == nil {
		o.Propagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
	}
	o.MaxNames = limit(o.MaxNames, DefaultMaxNames)
	o.MaxCodes = limit(o.MaxCodes, DefaultMaxCodes)
	t := &Telemetry{
		o: o, meter: o.MeterProvider.Meter(ScopeName), tracer: o.TracerProvider.Tracer(ScopeName),
		methods: make(map[string]string), sides: make(map[sideKey]*side),
	}
	for _, m := range append(methodsOfMCP[:len(methodsOfMCP):len(methodsOfMCP)], o.Methods...) {
		t.methods[m] = m
	}
	var failed error
	seconds := func(name, text string, bounds []float64) metric.Float64Histogram {
		h, err := t.meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(text), metric.WithExplicitBucketBoundaries(bounds...))
		failed = errors.Join(failed, err)
		return h
	}
	t.clientOperation = seconds(metricClientOperation, "The duration of the MCP request or notification as observed on the sender from the time it was sent until the response or ack is received.", bounds)
	t.serverOperation = seconds(metricServerOperation, "MCP request or notification duration as observed on the receiver from the time it was received until the result or ack is sent.", bounds)
	t.clientSession = seconds(metricClientSession, "The duration of the MCP session as observed on the MCP client.", bounds)
	t.serverSession = seconds(metricServerSession, "The duration of the MCP session as observed on the MCP server.", bounds)
	t.queue = seconds(metricQueue, "The time from when a request was registered until it was handed to the transport, or ended.", fineBounds)
	var err error
	t.rejected, err = t.meter.Int64Counter(metricServerRefused, metric.WithUnit("{frame}"), metric.WithDescription("Frames and HTTP requests that a limit or a check refused before they were messages."))
	if failed = errors.Join(failed, err); failed != nil {
		return nil, fmt.Errorf("otel: instruments: %w", failed)
	}
	return t, nil
}

func limit(n, otherwise int) int {
	switch {
	case n == 0:
		return otherwise
	case n < 0:
		return 0
	}
	return n
}

// methodsOfMCP are the values of mcp.method.name: those that the conventions list,
// and what 2026-07-28 has beside them.
var methodsOfMCP = []string{
	mcp.MethodDiscover, mcp.MethodListTools, mcp.MethodCallTool, mcp.MethodListResources, mcp.MethodListTemplates,
	mcp.MethodReadResource, mcp.MethodListPrompts, mcp.MethodGetPrompt, mcp.MethodComplete, mcp.MethodListen,
	mcp.MethodInitialize, mcp.MethodPing, mcp.MethodSetLevel, mcp.MethodSubscribe, mcp.MethodUnsubscribe,
	mcp.MethodCreateMessage, mcp.MethodElicit, mcp.MethodListRoots,
	mcp.NoteInitialized, mcp.NoteCancelled, mcp.NoteProgress, mcp.NoteMessage, mcp.NoteToolsChanged, mcp.NotePromptsChanged,
	mcp.NoteResourcesChanged, mcp.NoteResourceUpdated, mcp.NoteAcknowledged, mcp.NoteRootsChanged, mcp.NoteElicitationEnded,
}

// side is what a Telemetry keeps for the clients, or the servers, of one link.
func (t *Telemetry) side(server bool, l Link) *side {
	key := sideKey{server, l}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sides[key]
	if s == nil {
		s = newSide(t, server, l)
		t.sides[key] = s
	}
	return s
}
