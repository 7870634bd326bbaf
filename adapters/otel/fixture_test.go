package otel_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/correlator-go/correlator/adapters/otel"
	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// eventually bounds what a test waits for; nothing is asserted of it.
const eventually = 20 * time.Second

// rig is a Telemetry with providers in memory.
type rig struct {
	t      *testing.T
	spans  *tracetest.InMemoryExporter
	reader *sdkmetric.ManualReader
	traces *sdktrace.TracerProvider
	tracer trace.Tracer
	o      otel.Options
	clock  engine.Clock // of pair's client; nil is the system's
	*otel.Telemetry
}

func newRig(t *testing.T, change ...func(*otel.Options)) *rig {
	t.Helper()
	r := &rig{t: t, spans: tracetest.NewInMemoryExporter(), reader: sdkmetric.NewManualReader()}
	r.traces = sdktrace.NewTracerProvider(sdktrace.WithSyncer(r.spans))
	r.tracer = r.traces.Tracer("test")
	r.o = otel.Options{TracerProvider: r.traces, MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.reader))}
	for _, c := range change {
		c(&r.o)
	}
	var err error
	r.Telemetry, err = otel.New(r.o)
	require.NoError(t, err)
	return r
}

// take gives the spans that ended, and forgets them.
func (r *rig) take() tracetest.SpanStubs {
	spans := r.spans.GetSpans()
	r.spans.Reset()
	return spans
}

// span waits for the one span of a kind and a name.
func (r *rig) span(kind trace.SpanKind, name string) tracetest.SpanStub {
	r.t.Helper()
	var found tracetest.SpanStub
	require.Eventually(r.t, func() bool {
		for _, s := range r.spans.GetSpans() {
			if s.SpanKind == kind && s.Name == name {
				found = s
				return true
			}
		}
		return false
	}, eventually, time.Millisecond, "%v %s", kind, name)
	return found
}

// collect reads all metrics.
func (r *rig) collect() map[string]metricdata.Metrics {
	r.t.Helper()
	var out metricdata.ResourceMetrics
	require.NoError(r.t, r.reader.Collect(context.Background(), &out))
	all := make(map[string]metricdata.Metrics)
	for _, scope := range out.ScopeMetrics {
		require.Equal(r.t, otel.ScopeName, scope.Scope.Name)
		for _, m := range scope.Metrics {
			all[m.Name] = m
		}
	}
	return all
}

// counts is how many values a histogram has, by attributes written as words.
func (r *rig) counts(name string) map[string]uint64 {
	r.t.Helper()
	m, ok := r.collect()[name]
	if !ok {
		return nil
	}
	out := make(map[string]uint64)
	for _, p := range m.Data.(metricdata.Histogram[float64]).DataPoints {
		out[words(p.Attributes.ToSlice())] += p.Count
	}
	return out
}

// sums is the same of counters.
func (r *rig) sums(name string) map[string]int64 {
	r.t.Helper()
	m, ok := r.collect()[name]
	if !ok {
		return nil
	}
	out := make(map[string]int64)
	for _, p := range m.Data.(metricdata.Sum[int64]).DataPoints {
		out[words(p.Attributes.ToSlice())] += p.Value
	}
	return out
}

// words writes attributes as "key=value key=value", sorted by key.
func words(attrs []attribute.KeyValue) string {
	var out []string
	for _, a := range attrs {
		out = append(out, string(a.Key)+"="+a.Value.String())
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// without is words without some keys.
func without(attrs []attribute.KeyValue, keys ...attribute.Key) string {
	var rest []attribute.KeyValue
	for _, a := range attrs {
		if !slices.Contains(keys, a.Key) {
			rest = append(rest, a)
		}
	}
	return words(rest)
}

// server is what tests call: tools, a prompt and a resource.
func server(t *testing.T, r *rig, entered chan struct{}, o serve.Options) *serve.Server {
	t.Helper()
	tool := func(name string, f func(context.Context, *mcp.Request) (*mcp.ToolResult, error)) mcp.ServerTool {
		return mcp.ServerTool{Tool: mcp.Tool{Name: name}, Handle: f}
	}
	d, err := mcp.NewServer(mcp.Description{
		Info: mcp.Implementation{Name: "fixture", Version: "1"},
		Tools: []mcp.ServerTool{
			tool("echo", func(ctx context.Context, _ *mcp.Request) (*mcp.ToolResult, error) {
				_, span := r.tracer.Start(ctx, "of the handler's own")
				defer span.End()
				return mcp.ToolText(baggage.FromContext(ctx).String()), nil
			}),
			tool("fail", func(context.Context, *mcp.Request) (*mcp.ToolResult, error) { return nil, errors.New("no luck") }),
			tool("refuse", func(context.Context, *mcp.Request) (*mcp.ToolResult, error) {
				return nil, &codec.Error{Code: -32050, Message: "not now"}
			}),
			tool("panic", func(context.Context, *mcp.Request) (*mcp.ToolResult, error) { panic("handler") }),
			tool("wait", func(ctx context.Context, _ *mcp.Request) (*mcp.ToolResult, error) {
				entered <- struct{}{}
				<-ctx.Done()
				return nil, ctx.Err()
			}),
			tool("ask", func(_ context.Context, q *mcp.Request) (*mcp.ToolResult, error) {
				if _, ok := q.Input("roots"); !ok {
					return nil, &mcp.InputRequired{Requests: map[string]mcp.InputRequest{"roots": mcp.ListRoots()}}
				}
				return mcp.ToolText("answered"), nil
			}),
		},
		Prompts: []mcp.ServerPrompt{{
			Prompt: mcp.Prompt{Name: "greet"},
			Handle: func(context.Context, *mcp.Request) (*mcp.PromptResult, error) { return &mcp.PromptResult{}, nil },
		}},
		Resources: []mcp.ServerResource{{
			Resource: mcp.Resource{URI: "note://one", Name: "one"},
			Handle:   func(context.Context, *mcp.Request) (*mcp.ReadResult, error) { return &mcp.ReadResult{}, nil },
		}},
	})
	require.NoError(t, err)
	s, err := serve.New(d, r.Server(o, otel.Stdio))
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// pair is a client and a server that one Telemetry observes, in one process.
func pair(t *testing.T, r *rig, era client.Era, o serve.Options) (*client.Client, *serve.Server, chan struct{}) {
	t.Helper()
	entered := make(chan struct{}, 64)
	s := server(t, r, entered, o)
	link := options(era)
	link.Conn.Clock = r.clock
	c, err := r.Connect(t.Context(), client.Stream(s.InProcess(context.Background())), link, otel.Stdio)
	require.NoError(t, err)
	finish(t, c)
	return c, s, entered
}

func options(era client.Era) client.Options {
	return client.Options{Era: era, Timeout: eventually, Roots: func(context.Context) ([]mcp.Root, error) { return nil, nil }}
}

// finish closes a client with the test, after which none of our goroutines is left.
func finish(t *testing.T, c *client.Client) {
	t.Cleanup(func() {
		_ = c.Close()
		require.Eventually(t, func() bool {
			buf := make([]byte, 1<<20)
			text := string(buf[:runtime.Stack(buf, true)])
			return !strings.Contains(text, "correlator/client.") && !strings.Contains(text, "correlator/conn.") && !strings.Contains(text, "adapters/otel.(")
		}, eventually, 5*time.Millisecond, "a goroutine is left")
	})
}

// overHTTP serves s, within a span of kind SERVER as otelhttp begins one.
func overHTTP(t *testing.T, r *rig, s *serve.Server, era client.Era) *client.Client {
	t.Helper()
	h, err := s.HTTP(serve.HTTPOptions{})
	require.NoError(t, err)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		ctx, span := r.tracer.Start(q.Context(), q.Method)
		defer span.End()
		h.ServeHTTP(w, q.WithContext(ctx))
	}))
	t.Cleanup(web.Close)
	c, err := r.Connect(t.Context(), client.HTTP{Endpoint: web.URL}, options(era), otel.HTTP)
	require.NoError(t, err)
	finish(t, c)
	return c
}

var eras = map[string]client.Era{"modern": client.EraModern, "older": client.EraLegacy}

func containsWord(words, word string) bool { return slices.Contains(strings.Fields(words), word) }
