package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

type tracedKey struct{}

// tracer numbers requests, tells the number to the server, and keeps their ends.
type tracer struct {
	mu    sync.Mutex
	begun int
	ended []client.CallEvent
	wrong []string
	panic bool
	keys  []string
}

func (x *tracer) Begin(ctx context.Context, method, name string) context.Context {
	if x.panic {
		panic("begin")
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.begun++
	return context.WithValue(ctx, tracedKey{}, fmt.Sprintf("%s %s %d", method, name, x.begun))
}

func (x *tracer) Inject(ctx context.Context, m *client.Carrier) {
	value := "none"
	if !x.panic {
		value = ctx.Value(tracedKey{}).(string)
	}
	for _, key := range x.keys {
		m.Set(key, value)
	}
	m.Set("half", "\"quoted\"\n")
	if x.panic {
		panic("inject")
	}
}

func (x *tracer) End(ctx context.Context, e client.CallEvent) {
	if x.panic {
		panic("end")
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if value, _ := ctx.Value(tracedKey{}).(string); !strings.HasPrefix(value, e.Method+" "+e.Name+" ") {
		x.wrong = append(x.wrong, value)
	}
	x.ended = append(x.ended, e)
}

func (x *tracer) take(t *testing.T) []client.CallEvent {
	t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	require.Empty(t, x.wrong)
	ended := x.ended
	x.ended = nil
	return ended
}

// metas keeps the _meta of each call that reaches a handler.
func metas(s *serve.Server) chan mcp.Meta {
	seen := make(chan mcp.Meta, 16)
	s.RegisterTool(mcp.ServerTool{Tool: mcp.Tool{Name: "meta"}, Handle: func(_ context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
		var p struct {
			Meta mcp.Meta `json:"_meta"`
		}
		if err := json.Unmarshal(r.Params(), &p); err != nil {
			return nil, err
		}
		seen <- p.Meta
		if len(p.Meta["ask"]) > 0 && r.Round() == 0 {
			return nil, &mcp.InputRequired{Requests: map[string]mcp.InputRequest{"roots": mcp.ListRoots()}}
		}
		return mcp.ToolText("seen"), nil
	}})
	return seen
}

// Over every way and in both eras, each request has a context of its own, tells the
// server what the tracer put in, and is told of at its end.
func TestTracer(t *testing.T) {
	x := &tracer{keys: []string{"traceparent", "tracestate", "baggage"}}
	o := client.Options{Tracer: x, Timeout: eventually, Roots: func(context.Context) ([]mcp.Root, error) { return nil, nil }}
	everywhere(t, o, func(t *testing.T, c *client.Client, s *serve.Server) {
		greeted := x.take(t)
		require.NotEmpty(t, greeted, "the handshake is followed")
		require.Contains(t, []string{mcp.MethodDiscover, mcp.MethodInitialize}, greeted[0].Method)
		seen := metas(s)

		_, err := c.CallTool(t.Context(), "meta", map[string]string{"a": `x\ny`}, client.CallOptions{})
		require.NoError(t, err)
		m := <-seen
		value := string(m["traceparent"])
		require.Contains(t, value, "tools/call meta ")
		require.Equal(t, value, string(m["tracestate"]))
		require.Equal(t, value, string(m["baggage"]))
		require.JSONEq(t, `"\"quoted\"\n"`, string(m["half"]))
		if c.Revision().IsModern() {
			require.Contains(t, m, mcp.MetaProtocolVersion, "what the revision wants is there beside it")
		}
		ended := x.take(t)
		require.Len(t, ended, 1)
		e := ended[0]
		require.Equal(t, "meta", e.Tool)
		require.Equal(t, "meta", e.Name)
		require.Equal(t, client.CallCompleted, e.Outcome)
		require.NoError(t, e.Err)
		require.Equal(t, c.Revision(), e.Revision)
		require.False(t, e.ID.IsAbsent())
		if strings.Contains(t.Name(), "older_HTTP") {
			require.NotEmpty(t, e.Session)
		} else {
			require.Empty(t, e.Session)
		}

		// What the caller brings itself stands once, and as it was.
		_, err = c.CallTool(t.Context(), "meta", nil, client.CallOptions{Meta: mcp.Meta{"traceparent": []byte(`"mine"`)}})
		require.NoError(t, err)
		m = <-seen
		require.Equal(t, `"mine"`, string(m["traceparent"]))
		require.NotEqual(t, `"mine"`, string(m["baggage"]))
		_, err = c.Call(t.Context(), mcp.MethodCallTool, []byte(`{"name":"meta","_meta":{"bagg\u0061ge":"mine"}}`), client.CallOptions{})
		require.NoError(t, err)
		m = <-seen
		require.Equal(t, `"mine"`, string(m["baggage"]))
		require.NotEqual(t, `"mine"`, string(m["traceparent"]))
		x.take(t)

		// A failure comes with its error.
		_, err = c.CallTool(t.Context(), "nobody", nil, client.CallOptions{})
		require.Error(t, err)
		ended = x.take(t)
		require.Equal(t, client.CallFailed, ended[0].Outcome)
		require.ErrorIs(t, err, ended[0].Err)
		stopped, stop := context.WithCancel(t.Context())
		stop()
		_, err = c.ReadResource(stopped, "note://one", client.CallOptions{})
		require.ErrorIs(t, err, conn.ErrCancelled)
		ended = x.take(t)
		require.Equal(t, "note://one", ended[0].Name)
		require.ErrorIs(t, ended[0].Err, conn.ErrCancelled)

		// A further round is a request of its own.
		_, err = c.CallTool(t.Context(), "meta", nil, client.CallOptions{Meta: mcp.Meta{"ask": []byte("1")}})
		require.NoError(t, err)
		first, second := <-seen, <-seen
		ended = x.take(t)
		if !c.Revision().IsModern() {
			require.Len(t, ended, 1)
			return
		}
		require.NotEqual(t, string(first["traceparent"]), string(second["traceparent"]))
		require.Len(t, ended, 2)
		require.Equal(t, client.CallInputRequired, ended[0].Outcome)
		require.NotEqual(t, ended[0].ID, ended[1].ID)
	})
}

// A tracer that panics costs nothing but what it would have said.
func TestTracerPanics(t *testing.T) {
	x := &tracer{panic: true, keys: []string{"traceparent"}}
	everywhere(t, client.Options{Tracer: x, Timeout: eventually}, func(t *testing.T, c *client.Client, s *serve.Server) {
		seen := metas(s)
		_, err := c.CallTool(t.Context(), "meta", nil, client.CallOptions{})
		require.NoError(t, err)
		require.NotContains(t, <-seen, "traceparent")
	})
}

// Many at once, with memory that is used again: everybody's own trace arrives.
func TestTracerConcurrently(t *testing.T) {
	x := &tracer{keys: []string{"traceparent"}}
	everywhere(t, client.Options{Tracer: x, Timeout: eventually}, func(t *testing.T, c *client.Client, s *serve.Server) {
		s.RegisterTool(mcp.ServerTool{Tool: mcp.Tool{Name: "mine"}, Handle: func(_ context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
			var p struct {
				Meta struct {
					Parent string `json:"traceparent"`
				} `json:"_meta"`
			}
			err := codec.DecodeValue(r.Params(), &p)
			return mcp.ToolText(p.Meta.Parent), err
		}})
		var all sync.WaitGroup
		var mu sync.Mutex
		seen := map[string]bool{}
		for range 16 {
			all.Go(func() {
				for range 8 {
					r, err := c.CallTool(t.Context(), "mine", nil, client.CallOptions{})
					if err != nil || !strings.HasPrefix(r.Content[0].Text, "tools/call mine ") {
						t.Error(r, err)
						return
					}
					mu.Lock()
					seen[r.Content[0].Text] = true
					mu.Unlock()
				}
			})
		}
		all.Wait()
		ids := map[codec.ID]bool{}
		for _, e := range x.take(t) {
			if e.Method == mcp.MethodCallTool {
				ids[e.ID] = true
			}
		}
		require.Len(t, ids, 16*8)
		require.Len(t, seen, 16*8)
	})
}

func ExampleCarrier() {
	m := client.NewCarrier([]byte(`{"name":"add","_meta":{"progressToken":1,"baggage":"a=1"}}`))
	m.Set("traceparent", "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")
	m.Set("baggage", "b=2") // it is there already
	params, err := m.Params()
	fmt.Println(string(params), err)
	// Output:
	// {"name":"add","_meta":{"traceparent":"00-0123456789abcdef0123456789abcdef-0123456789abcdef-01","progressToken":1,"baggage":"a=1"}} <nil>
}

func TestCarrier(t *testing.T) {
	for params, want := range map[string]string{
		"":                            `{"_meta":{"k":"1"}}`,
		`{}`:                          `{"_meta":{"k":"1"}}`,
		`{"a":"\"k\""}`:               `{"_meta":{"k":"1"},"a":"\"k\""}`,
		`{"k":2}`:                     `{"_meta":{"k":"1"},"k":2}`,
		`{"_meta":{"\u006b":2}}`:      `{"_meta":{"\u006b":2}}`,
		`{"_meta":{"k":null},"x":[]}`: `{"_meta":{"k":null},"x":[]}`,
	} {
		m := client.NewCarrier([]byte(params))
		m.Set("k", "1")
		m.Set("k", "2")
		got, err := m.Params()
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	m := client.NewCarrier([]byte(`[1]`))
	m.Set("k", "1")
	_, err := m.Params()
	require.ErrorIs(t, err, codec.ErrNotObject)
}
