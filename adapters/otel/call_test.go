package otel_test

import (
	"context"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/correlator-go/correlator/adapters/otel"
	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// A connection without a client: its calls have spans, carry the context and count.
func TestCall(t *testing.T) {
	r := newRig(t)
	theirs := make(chan string, 1)
	near, far := net.Pipe()
	peer, err := conn.New(far, conn.Options{Handler: conn.HandlerFunc(func(_ context.Context, q *conn.Inbound) {
		theirs <- string(q.Params())
		if q.Method() == mcp.MethodSetLevel {
			_ = q.ReplyError(&codec.Error{Code: -32601, Message: "no pings"})
			return
		}
		_ = q.Reply([]byte(`{}`))
	})})
	require.NoError(t, err)
	c, err := conn.New(near, r.Conn(conn.Options{}, otel.Unix))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(); _ = peer.Close() })

	var id codec.ID
	_, err = r.Call(t.Context(), c, mcp.MethodCallTool, []byte(`{"name":"add","_meta":{"k":1}}`), conn.CallOptions{ID: &id}, otel.Unix)
	require.NoError(t, err)
	span := r.span(trace.SpanKindClient, "tools/call add")
	require.JSONEq(t, `{"name":"add","_meta":{"k":1,"traceparent":"00-`+span.SpanContext.TraceID().String()+`-`+span.SpanContext.SpanID().String()+`-01"}}`, <-theirs)
	require.Equal(t, id.Text(), attributeOf(span.Attributes, requestID))
	_, err = r.Call(t.Context(), c, mcp.MethodSetLevel, nil, conn.CallOptions{}, otel.Unix)
	require.Error(t, err)
	require.Contains(t, <-theirs, "traceparent")
	span = r.span(trace.SpanKindClient, "logging/setLevel")
	require.Equal(t, codes.Error, span.Status.Code)
	require.Equal(t, "no pings", span.Status.Description)
	_, err = r.Call(t.Context(), c, mcp.MethodReadResource, []byte(`{"uri":"a:b"}`), conn.CallOptions{}, otel.Unix)
	require.NoError(t, err)
	<-theirs
	require.Equal(t, "a:b", attributeOf(r.span(trace.SpanKindClient, "resources/read").Attributes, "mcp.resource.uri"))
	_, err = r.Call(t.Context(), c, mcp.MethodReadResource, []byte(`[]`), conn.CallOptions{}, otel.Unix)
	require.ErrorIs(t, err, codec.ErrNotObject)
	r.eventuallyCounts(clientOperation, map[string]uint64{
		"gen_ai.operation.name=execute_tool mcp.method.name=tools/call network.transport=unix":                      1,
		"error.type=-32601 mcp.method.name=logging/setLevel network.transport=unix rpc.response.status_code=-32601": 1,
		"mcp.method.name=resources/read network.transport=unix":                                                     1,
	})
}

// Other members of _meta, and what the caller wrote there itself, stay as they are.
func TestInject(t *testing.T) {
	r := newRig(t)
	ctx := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled,
	}))
	const parent = `"traceparent":"00-01000000000000000000000000000000-0200000000000000-01"`
	for params, want := range map[string]string{
		"":                                     `{"_meta":{` + parent + `}}`,
		`{"a":1}`:                              `{"_meta":{` + parent + `},"a":1}`,
		`{"_meta":{"progressToken":7},"a":[]}`: `{"_meta":{` + parent + `,"progressToken":7},"a":[]}`,
		`{"_meta":{"traceparent":"mine"}}`:     `{"_meta":{"traceparent":"mine"}}`,
	} {
		got, err := r.Inject(ctx, []byte(params))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	got, err := r.Inject(t.Context(), []byte(`{"a":1}`))
	require.NoError(t, err)
	require.Equal(t, `{"a":1}`, string(got), "nothing to tell")
}

// odd is a propagator of another format.
type odd struct{}

func (odd) Inject(_ context.Context, c propagation.TextMapCarrier) { c.Set("x-odd", "7\"é") }
func (odd) Fields() []string                                       { return []string{"x-odd"} }
func (odd) Extract(ctx context.Context, c propagation.TextMapCarrier) context.Context {
	member, err := baggage.NewMemberRaw("odd", c.Get("x-odd")+c.Get("missing"))
	if err != nil {
		return ctx
	}
	b, _ := baggage.New(member)
	return baggage.ContextWithBaggage(ctx, b)
}

// Propagators of other formats reach the other side as well.
func TestOtherPropagator(t *testing.T) {
	r := newRig(t, func(o *otel.Options) { o.Propagator = odd{} })
	c, s, _ := pair(t, r, client.EraModern, serve.Options{})
	seen := make(chan string, 1)
	s.RegisterTool(mcp.ServerTool{Tool: mcp.Tool{Name: "see"}, Handle: func(ctx context.Context, _ *mcp.Request) (*mcp.ToolResult, error) {
		seen <- baggage.FromContext(ctx).Member("odd").Value()
		return mcp.ToolText(""), nil
	}})
	_, err := c.CallTool(t.Context(), "see", nil, client.CallOptions{})
	require.NoError(t, err)
	require.Equal(t, "7\"é", <-seen)
}

// What is no trace context begins a trace of the server's own.
func TestBadTraceContext(t *testing.T) {
	for _, parent := range []string{`"00-00000000000000000000000000000000-0000000000000000-01"`, `7`, `"nonsense"`, `null`} {
		r := newRig(t)
		s := server(t, r, nil, serve.Options{})
		stream := s.InProcess(context.Background())
		t.Cleanup(func() { _ = stream.Close() })
		_, err := io.WriteString(stream, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientCapabilities":{},"traceparent":`+parent+`}}}`+"\n")
		require.NoError(t, err)
		require.False(t, r.span(trace.SpanKindServer, "tools/call echo").Parent.IsValid(), parent)
	}
}
