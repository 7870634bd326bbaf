package otel_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/correlator-go/correlator/adapters/otel"
	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

const requestID = attribute.Key("jsonrpc.request.id")

// A call's span is the child of the caller's, the server's is the child of the
// client's, and the handler's own is the child of the server's; baggage comes along.
func TestSpansAcrossTheWire(t *testing.T) {
	for name, era := range eras {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			c, _, _ := pair(t, r, era, serve.Options{})
			r.take()
			member, err := baggage.NewMember("tenant", "ann")
			require.NoError(t, err)
			bag, err := baggage.New(member)
			require.NoError(t, err)
			ctx, root := r.tracer.Start(baggage.ContextWithBaggage(t.Context(), bag), "root")
			result, err := c.CallTool(ctx, "echo", nil, client.CallOptions{})
			require.NoError(t, err)
			require.Equal(t, "tenant=ann", result.Content[0].Text)
			root.End()
			ours, theirs := r.span(trace.SpanKindClient, "tools/call echo"), r.span(trace.SpanKindServer, "tools/call echo")
			own := r.span(trace.SpanKindInternal, "of the handler's own")
			require.Equal(t, root.SpanContext().SpanID(), ours.Parent.SpanID())
			require.Equal(t, ours.SpanContext.SpanID(), theirs.Parent.SpanID())
			require.True(t, theirs.Parent.IsRemote())
			require.Equal(t, theirs.SpanContext.SpanID(), own.Parent.SpanID())
			require.Equal(t, root.SpanContext().TraceID(), own.SpanContext.TraceID())
			require.Empty(t, theirs.Links)
			want := "gen_ai.operation.name=execute_tool gen_ai.tool.name=echo mcp.method.name=tools/call mcp.protocol.version=" + string(c.Revision()) + " network.transport=pipe"
			require.Equal(t, want, without(ours.Attributes, requestID))
			require.Equal(t, want, without(theirs.Attributes, requestID))
			id := attributeOf(ours.Attributes, requestID)
			require.NotEmpty(t, id)
			require.Equal(t, id, attributeOf(theirs.Attributes, requestID))
			require.Equal(t, codes.Unset, ours.Status.Code)
			require.Equal(t, codes.Unset, theirs.Status.Code)
			require.False(t, theirs.EndTime.Before(theirs.StartTime))
			require.Equal(t, otel.ScopeName, theirs.InstrumentationScope.Name)
		})
	}
}

func attributeOf(attrs []attribute.KeyValue, key attribute.Key) string {
	for _, a := range attrs {
		if a.Key == key {
			return a.Value.String()
		}
	}
	return ""
}

// Over HTTP the server's span still has the client's as its parent, and the HTTP
// request's is linked.
func TestSpansOverHTTP(t *testing.T) {
	for name, era := range eras {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			c := overHTTP(t, r, server(t, r, nil, serve.Options{}), era)
			r.take()
			_, err := c.CallTool(t.Context(), "echo", nil, client.CallOptions{})
			require.NoError(t, err)
			ours, theirs := r.span(trace.SpanKindClient, "tools/call echo"), r.span(trace.SpanKindServer, "tools/call echo")
			require.Equal(t, ours.SpanContext.SpanID(), theirs.Parent.SpanID())
			require.Len(t, theirs.Links, 1)
			require.NotEqual(t, ours.SpanContext.TraceID(), theirs.Links[0].SpanContext.TraceID())
			require.Equal(t, "http", attributeOf(ours.Attributes, "network.protocol.name"))
			session := attributeOf(ours.Attributes, "mcp.session.id")
			require.Equal(t, session, attributeOf(theirs.Attributes, "mcp.session.id"))
			require.Equal(t, era == client.EraLegacy, session != "")
		})
	}
}

// The handshake, lists, prompts and resources have spans too; a list, which no
// handler serves, has its parent all the same.
func TestSpansOfOtherMethods(t *testing.T) {
	for name, era := range eras {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			c, _, _ := pair(t, r, era, serve.Options{})
			greeting := mcp.MethodDiscover
			if era == client.EraLegacy {
				greeting = mcp.MethodInitialize
			}
			require.Equal(t, r.span(trace.SpanKindClient, greeting).SpanContext.SpanID(), r.span(trace.SpanKindServer, greeting).Parent.SpanID())
			_, err := c.ListTools(t.Context(), nil, client.CallOptions{})
			require.NoError(t, err)
			ours, theirs := r.span(trace.SpanKindClient, "tools/list"), r.span(trace.SpanKindServer, "tools/list")
			require.Equal(t, ours.SpanContext.SpanID(), theirs.Parent.SpanID())
			require.Equal(t, attributeOf(ours.Attributes, requestID), attributeOf(theirs.Attributes, requestID))
			_, err = c.GetPrompt(t.Context(), "greet", nil, client.CallOptions{})
			require.NoError(t, err)
			theirs = r.span(trace.SpanKindServer, "prompts/get greet")
			require.Equal(t, "greet", attributeOf(theirs.Attributes, "gen_ai.prompt.name"))
			require.Empty(t, attributeOf(theirs.Attributes, "gen_ai.operation.name"))
			_, err = c.ReadResource(t.Context(), "note://one", client.CallOptions{})
			require.NoError(t, err)
			for _, kind := range []trace.SpanKind{trace.SpanKindClient, trace.SpanKindServer} {
				require.Equal(t, "note://one", attributeOf(r.span(kind, "resources/read").Attributes, "mcp.resource.uri"))
			}
			_, err = c.Call(t.Context(), "vendor/none", nil, client.CallOptions{})
			require.Error(t, err)
			for _, kind := range []trace.SpanKind{trace.SpanKindClient, trace.SpanKindServer} {
				span := r.span(kind, otel.Other)
				require.Equal(t, otel.Other, attributeOf(span.Attributes, "mcp.method.name"))
				require.Equal(t, "-32601", attributeOf(span.Attributes, "error.type"))
				require.Equal(t, codes.Error, span.Status.Code)
			}
		})
	}
}

// Each way to fail, as both sides' spans show it.
func TestSpansOfFailures(t *testing.T) {
	for name, era := range eras {
		t.Run(name, func(t *testing.T) {
			r, clock := newRig(t), engine.NewManualClock()
			r.clock = clock
			c, _, entered := pair(t, r, era, serve.Options{DrainTimeout: -1})
			check := func(tool, ours, theirs, status, message string) {
				t.Helper()
				for kind, want := range map[trace.SpanKind]string{trace.SpanKindClient: ours, trace.SpanKindServer: theirs} {
					if want == "" {
						continue
					}
					span := r.span(kind, "tools/call "+tool)
					require.Equal(t, want, attributeOf(span.Attributes, "error.type"), kind)
					require.Equal(t, codes.Error, span.Status.Code)
					if kind == trace.SpanKindClient {
						require.Equal(t, status, attributeOf(span.Attributes, "rpc.response.status_code"))
						require.Contains(t, span.Status.Description, message)
					}
				}
				r.take()
			}
			call := func(ctx context.Context, tool string, o client.CallOptions) error {
				_, err := c.CallTool(ctx, tool, nil, o)
				return err
			}
			require.NoError(t, call(t.Context(), "fail", client.CallOptions{}))
			check("fail", "tool_error", "tool_error", "", "")
			require.Error(t, call(t.Context(), "refuse", client.CallOptions{}))
			check("refuse", "-32050", "-32050", "-32050", "not now")
			require.Error(t, call(t.Context(), "panic", client.CallOptions{}))
			check("panic", "-32603", "handler_crashed", "-32603", "Internal error")
			require.Error(t, call(t.Context(), "nobody", client.CallOptions{}))
			check("nobody", "-32602", "", "-32602", "")
			go func() { <-entered; clock.Advance(time.Second) }()
			require.ErrorIs(t, call(t.Context(), "wait", client.CallOptions{Timeout: time.Millisecond}), conn.ErrTimeout)
			check("wait", "timeout", "cancelled", "", "")
			ctx, stop := context.WithCancel(t.Context())
			go func() { <-entered; stop() }()
			require.ErrorIs(t, call(ctx, "wait", client.CallOptions{}), conn.ErrCancelled)
			check("wait", "cancelled", "cancelled", "", "")
			done := make(chan error, 1)
			go func() { done <- call(t.Context(), "wait", client.CallOptions{}) }()
			<-entered
			require.NoError(t, c.Close())
			require.ErrorIs(t, <-done, conn.ErrClosed)
			check("wait", "connection_closed", "cancelled", "", "")
		})
	}
}

// The server's own time limit.
func TestSpanOfServerTimeout(t *testing.T) {
	r := newRig(t)
	c, _, entered := pair(t, r, client.EraModern, serve.Options{Timeout: 500 * time.Millisecond})
	_, err := c.CallTool(t.Context(), "wait", nil, client.CallOptions{})
	require.Error(t, err)
	<-entered
	require.Equal(t, "timeout", attributeOf(r.span(trace.SpanKindServer, "tools/call wait").Attributes, "error.type"))
	require.Equal(t, "-32603", attributeOf(r.span(trace.SpanKindClient, "tools/call wait").Attributes, "error.type"))
}

// An answer that asks for input is no failure.
func TestSpansOfInput(t *testing.T) {
	r := newRig(t)
	c, _, _ := pair(t, r, client.EraModern, serve.Options{})
	ctx, root := r.tracer.Start(t.Context(), "root")
	r.take()
	_, err := c.CallTool(ctx, "ask", nil, client.CallOptions{})
	require.NoError(t, err)
	root.End()
	// The span of a handler ends before its answer goes out; that of the handshake after.
	parents, outcomes := map[trace.SpanID]bool{}, map[string]int{}
	for _, s := range r.take() {
		switch s.SpanKind {
		case trace.SpanKindClient:
			require.Equal(t, root.SpanContext().SpanID(), s.Parent.SpanID())
			outcomes[attributeOf(s.Attributes, "correlator.outcome")]++
		case trace.SpanKindServer:
			if s.Name == "tools/call ask" {
				parents[s.Parent.SpanID()] = true
			}
		}
	}
	require.Equal(t, map[string]int{"input_required": 1, "": 1}, outcomes, "a round is a request")
	require.Len(t, parents, 2, "and has a context of its own")
}

// What is not sampled is passed on as that; without a provider of spans what the
// context carries is passed on.
func TestUnsampledAndOff(t *testing.T) {
	for name, provider := range map[string]trace.TracerProvider{
		"unsampled": sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())),
		"off":       noop.NewTracerProvider(),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(o *otel.Options) { o.TracerProvider = provider })
			c, s, _ := pair(t, r, client.EraModern, serve.Options{})
			seen := make(chan trace.SpanContext, 1)
			s.RegisterTool(mcp.ServerTool{Tool: mcp.Tool{Name: "see"}, Handle: func(ctx context.Context, _ *mcp.Request) (*mcp.ToolResult, error) {
				seen <- trace.SpanContextFromContext(ctx)
				return mcp.ToolText(""), nil
			}})
			ctx, root := r.tracer.Start(t.Context(), "root") // of another provider, sampled
			defer root.End()
			_, err := c.CallTool(ctx, "see", nil, client.CallOptions{})
			require.NoError(t, err)
			got := <-seen
			require.Equal(t, root.SpanContext().TraceID(), got.TraceID())
			require.Equal(t, name == "off", got.IsSampled())
			require.Empty(t, r.take())
		})
	}
}
