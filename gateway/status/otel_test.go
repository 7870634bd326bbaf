package status_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/status"
)

// traced is a stage whose gateway traces.
func traced(t *testing.T, o status.Export) *stage {
	t.Helper()
	s := &stage{t: t, server: &fake.Server{}, client: &fake.Client{}}
	var err error
	s.board, err = status.New(status.Options{Export: o})
	require.NoError(t, err)
	s.g, err = gateway.New(gateway.Options{
		Upstreams: []gateway.Upstream{{Name: "tools", Opener: s.server, Isolation: gateway.Shared}},
		Observer:  s.board.Observe, Tracer: s.board.Tracer(),
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.g.Close() })
	s.board.Watch(s.g)
	s.client.Join(s.g.Join(s.client))
	return s
}

const (
	traceID = "0af7651916cd43dd8448eb211c80319c"
	parent  = "00-" + traceID + "-b7ad6b7169203331-01"
)

// The server gets a context of the client's trace whose parent is the gateway's span,
// and nothing else of the request changes.
func TestTraceContext(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	s := traced(t, status.Export{Spans: recorder})
	require.NoError(t, s.client.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo", "_meta":{"traceparent":"`+parent+`","tracestate":"a=b"},"arguments":{"n":1.0}}}`))
	id, frame := s.server.Way(0).NextRequest()
	before, after, found := strings.Cut(frame, `"traceparent":"00-`+traceID+`-`)
	require.True(t, found, frame)
	require.Equal(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"echo", "_meta":{`, before)
	require.Equal(t, `-01","tracestate":"a=b"},"arguments":{"n":1.0}}}`, after[16:])
	s.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32602,"message":"no"}}`)
	require.NotEmpty(t, s.client.Next())
	require.NoError(t, s.board.Flush())

	ended := recorder.Ended()
	require.Len(t, ended, 2)
	client, server := ended[0], ended[1]
	require.Equal(t, trace.SpanKindClient, client.SpanKind())
	require.Equal(t, trace.SpanKindServer, server.SpanKind())
	require.Equal(t, "tools/call echo", server.Name())
	require.Equal(t, "b7ad6b7169203331", server.Parent().SpanID().String())
	require.Equal(t, server.SpanContext().SpanID(), client.Parent().SpanID())
	require.Equal(t, client.SpanContext().SpanID().String(), after[:16])
	require.Equal(t, traceID, client.SpanContext().TraceID().String())
	attributes := map[string]string{}
	for _, a := range server.Attributes() {
		attributes[string(a.Key)] = a.Value.String()
	}
	require.Equal(t, "tools/call", attributes["mcp.method.name"])
	require.Equal(t, "echo", attributes["gen_ai.tool.name"])
	require.Equal(t, "execute_tool", attributes["gen_ai.operation.name"])
	require.Equal(t, "-32602", attributes["error.type"])
	require.Equal(t, "tools", attributes["correlator.upstream"])
	require.Equal(t, "1", attributes["jsonrpc.request.id"])
}

// Spans of what clients ask say which revision they speak, and of which session they are,
// where there is one, by a hash of its id.
func TestProtocolAndSession(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	s := traced(t, status.Export{Spans: recorder})
	s.server.Initialize = `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`
	inSession := &fake.Client{Who: link.Peer{Transport: "http", Session: "5e551011"}}
	inSession.Join(s.g.Join(inSession))
	const modern = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`
	const odd = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"hunter2"}}`
	for _, r := range []struct{ method, params, protocol string }{
		{"initialize", `{"protocolVersion":"2025-11-25","capabilities":{}}`, ""}, // it is about to be agreed on
		{"tools/list", `{}`, "2025-06-18"},
		{"tools/list", modern, "2026-07-28"},
		{"tools/list", odd, "_OTHER"},
	} {
		for client, session := range map[*fake.Client]string{s.client: "", inSession: "5e551011"} {
			recorder.Reset()
			require.NoError(t, client.Say(`{"jsonrpc":"2.0","id":1,"method":"`+r.method+`","params":`+r.params+`}`))
			if r.method != "initialize" {
				id, _ := s.server.Way(0).NextRequest()
				s.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
			}
			require.Contains(t, client.Next(), `"result"`)
			require.Eventually(t, func() bool { return len(recorder.Ended()) == 2 }, time.Minute, time.Millisecond)
			ended := recorder.Ended()
			attributes := map[string]string{}
			for _, a := range ended[1].Attributes() {
				attributes[string(a.Key)] = a.Value.String()
			}
			require.Equal(t, trace.SpanKindServer, ended[1].SpanKind())
			require.Equal(t, r.protocol, attributes["mcp.protocol.version"], r)
			require.Equal(t, session, attributes["mcp.session.id"], r)
			if session == "" {
				require.NotContains(t, attributes, "mcp.session.id")
			}
		}
	}
}

// A client without a trace begins one; a context that stands twice is refused, since
// the gateway and the server could read different ones.
func TestTraceContextMissingAndTwice(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	s := traced(t, status.Export{Spans: recorder})
	require.NoError(t, s.client.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
	_, frame := s.server.Way(0).NextRequest()
	require.Regexp(t, `"params":\{"_meta":\{"traceparent":"00-[0-9a-f]{32}-[0-9a-f]{16}-01"\}\}\}$`, frame)
	require.NoError(t, s.client.Say(`{"jsonrpc":"2.0","id":2,"method":"m","params":{"_meta":{"traceparent":"`+parent+`","traceparent":"x"}}}`))
	got := s.client.Next()
	require.Contains(t, got, `"id":2`)
	require.Contains(t, got, "-32600")
}

// Metrics have the names of the conventions.
func TestOTelMetrics(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	s := traced(t, status.Export{Reader: reader})
	s.call(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`, `{"jsonrpc":"2.0","id":ID,"result":{"isError":true}}`)
	var got metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(context.Background(), &got))
	names := map[string]metricdata.HistogramDataPoint[float64]{}
	for _, m := range got.ScopeMetrics[0].Metrics {
		require.Equal(t, "s", m.Unit)
		names[m.Name] = m.Data.(metricdata.Histogram[float64]).DataPoints[0]
	}
	require.Len(t, names, 3)
	for _, name := range []string{"mcp.server.operation.duration", "mcp.client.operation.duration", "correlator.gateway.queue.duration"} {
		point, ok := names[name]
		require.True(t, ok, name)
		require.EqualValues(t, 1, point.Count)
		failure, ok := point.Attributes.Value("error.type")
		require.True(t, ok, name)
		require.Equal(t, "tool_error", failure.AsString())
	}
}

// What is exported goes to the collector that the options name, with their headers.
func TestOTLP(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]string{}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.URL.Path] = r.Header.Get("X-Key")
	}))
	defer collector.Close()
	s := traced(t, status.Export{Endpoint: collector.URL, Headers: map[string]string{"X-Key": "k"}})
	s.call(`{"jsonrpc":"2.0","id":1,"method":"m"}`, `{"jsonrpc":"2.0","id":ID,"result":{}}`)
	require.NoError(t, s.board.Flush())
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, map[string]string{"/v1/traces": "k", "/v1/metrics": "k"}, asked)
	require.NoError(t, newStage(t, status.Options{}).board.Flush(), "there is nothing to send")
	require.Nil(t, newStage(t, status.Options{}).board.Tracer())
}
