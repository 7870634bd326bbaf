package serve_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

type aroundKey struct{}

// What stands around a handler sees the run, gives it its context, and decides what
// is answered.
func TestAround(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		var refuse atomic.Bool
		o := serve.Options{Around: func(ctx context.Context, r serve.Run) mcp.Outcome {
			if refuse.Load() {
				return mcp.Fail(&codec.Error{Code: -32050, Message: "not now"})
			}
			o := r.Perform(context.WithValue(ctx, aroundKey{}, "given"))
			seen = append(seen, r.Invocation().Method()+" "+r.Invocation().Name()+" "+o.Status().String()+" "+time.Since(r.Taken()).String())
			return o
		}}
		r := newRig(t, o)
		defer r.conn.Close()
		r.s.RegisterTool(mcp.ServerTool{Tool: mcp.Tool{Name: "value"}, Handle: func(ctx context.Context, q *mcp.Request) (*mcp.ToolResult, error) {
			<-time.After(time.Second)
			return mcp.ToolText(ctx.Value(aroundKey{}).(string)), nil
		}})
		x := r.send(call("1", "value", `{}`))
		pass(2 * time.Second)
		require.Equal(t, "given", parse(t, r.only(x)).text(t))
		require.Equal(t, []string{"tools/call value succeeded 1s"}, seen)

		refuse.Store(true)
		x = r.send(call("2", "echo", `{}`))
		require.Equal(t, -32050, parse(t, r.only(x)).Error.Code)
	})
}

// A panic around a handler is the handler's: its request is answered, all others go
// on. So is an outcome that is none.
func TestAroundPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mode atomic.Int32
		r := newRig(t, serve.Options{Around: func(ctx context.Context, r serve.Run) mcp.Outcome {
			switch mode.Load() {
			case 1:
				panic("around")
			case 2:
				return mcp.Outcome{}
			}
			return r.Perform(ctx)
		}})
		defer r.conn.Close()
		for m, want := range []int{0, -32603, -32603} {
			mode.Store(int32(m))
			a := parse(t, r.only(r.send(call("1", "echo", `{"text":"x"}`))))
			if want == 0 {
				require.Nil(t, a.Error)
				continue
			}
			require.Equal(t, want, a.Error.Code)
		}
		require.EqualValues(t, 1, r.s.Stats().Panics)
	})
}

// The event about the end of an exchange says everything about it that a metric
// needs, also where no handler ran.
func TestExchangeEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended []serve.Event
		r := newRig(t, serve.Options{Timeout: time.Second, Observer: func(e serve.Event) {
			if e.Kind == serve.ExchangeEnded {
				ended = append(ended, e)
			}
		}})
		defer r.conn.Close()
		last := func() serve.Event {
			t.Helper()
			synctest.Wait()
			require.NotEmpty(t, ended)
			e := ended[len(ended)-1]
			ended = nil
			require.NotZero(t, e.Exchange)
			e.Exchange, e.Correlation = 0, mcp.Correlation{}
			if e.Method != "" && e.Method != mcp.NoteCancelled {
				require.Equal(t, codec.IntID(1), e.ID)
			}
			e.ID = codec.ID{}
			if e.Revision != "" {
				require.Equal(t, mcp.Modern, e.Revision)
			}
			e.Revision = ""
			return e
		}
		const parent = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"
		kind := serve.ExchangeEnded
		for _, c := range []struct {
			name, frame string
			ran         bool
			want        serve.Event
		}{
			{"succeeded", call("1", "echo", `{}`, `"traceparent":"`+parent+`"`), true, serve.Event{Kind: kind, Method: "tools/call", Tool: "echo", Status: mcp.Succeeded}},
			{"crashed", call("1", "panic", `{}`), true, serve.Event{Kind: kind, Method: "tools/call", Tool: "panic", Reason: "crashed", Code: -32603}},
			{"timed out", call("1", "wait", `{}`), true, serve.Event{Kind: kind, Method: "tools/call", Tool: "wait", Reason: "timed_out", Code: -32603, Duration: time.Second}},
			{"not found", request("1", "resources/read", `"uri":"test://a"`), true, serve.Event{Kind: kind, Method: "resources/read", Status: mcp.Succeeded}},
			{"no such tool", call("1", "nobody", `{}`, `"traceparent":"`+parent+`","tracestate":"a=b"`), false,
				serve.Event{Kind: kind, Method: "tools/call", Code: -32602, Trace: mcp.Trace{Parent: parent, State: "a=b"}}},
			{"no such method", request("1", "nothing/here", ""), false, serve.Event{Kind: kind, Method: "nothing/here", Code: -32601}},
			{"a long method", request("1", strings.Repeat("m", serve.MethodBytes+1), ""), false, serve.Event{Kind: kind, Code: -32601}},
			{"listed", request("1", "tools/list", ""), false, serve.Event{Kind: kind, Method: "tools/list"}},
			{"no message", `{"jsonrpc":"2.0","id":1,"method":7}`, false, serve.Event{Kind: kind, Code: -32600}},
			{"cancel of nothing", cancelled("77"), false, serve.Event{Kind: kind, Method: "notifications/cancelled"}},
			{"a trace that is no text", request("1", "tools/list", `"traceparent":7`), false, serve.Event{Kind: kind, Method: "tools/list"}},
		} {
			r.send(c.frame)
			if c.want.Duration > 0 {
				pass(c.want.Duration)
			}
			e := last()
			require.Equal(t, c.ran, e.Invocation != 0, c.name)
			e.Invocation = 0
			require.Equal(t, c.want, e, c.name)
		}
		x := r.send(call("1", "wait", `{}`))
		<-r.f.entered
		r.send(cancelled("1"))
		synctest.Wait()
		require.Len(t, ended, 2)
		require.Equal(t, "cancelled", ended[0].Reason)
		require.Equal(t, x, ended[0].Exchange)
		require.Zero(t, ended[0].Code)
	})
}

// A stream and a session of HTTP's older era end once, with a word why.
func TestSessionEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended []string
		s := newServer(t, newTools(), serve.Options{Observer: func(e serve.Event) {
			if e.Kind == serve.SessionEnded {
				ended = append(ended, e.Reason+" "+e.Duration.String())
			}
		}})
		c := s.InProcess(context.Background())
		_, err := io.WriteString(c, request("1", "tools/list", "")+"\n")
		require.NoError(t, err)
		_, err = bufio.NewReader(c).ReadString('\n')
		require.NoError(t, err)
		pass(time.Minute)
		require.Empty(t, ended)
		_ = c.Close()
		synctest.Wait()
		require.Equal(t, []string{"closed 1m0s"}, ended)
		ctx, stop := context.WithCancel(context.Background())
		_ = s.InProcess(ctx)
		synctest.Wait()
		stop()
		synctest.Wait()
		require.Equal(t, "stopped 0s", ended[1])
		s.Close()
	})
}

func TestHTTPSessionEnded(t *testing.T) {
	ended := make(chan serve.Event, 64)
	overHTTP(t, serve.Options{Observer: func(e serve.Event) {
		if e.Kind == serve.SessionEnded {
			ended <- e
		}
	}}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		_ = w.tool("1", "echo", `{}`).all()
		require.Empty(t, ended, "a request of the modern era is no session")
		h := w.begin("2025-11-25")
		pass(time.Minute)
		_ = w.do(http.MethodDelete, "", h...).all()
		synctest.Wait()
		require.Len(t, ended, 1)
		require.Equal(t, "closed", (<-ended).Reason)
	})
}
