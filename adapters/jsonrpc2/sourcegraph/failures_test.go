package sourcegraph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/script"
	"github.com/correlator-go/correlator/adapters/jsonrpc2/sourcegraph"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// play makes a connection with a scripted peer, both gone after the test.
func play(t *testing.T, h jsonrpc2.Handler, opts ...sourcegraph.Option) (*sourcegraph.Conn, *script.Peer) {
	stream, p := script.New(t)
	c := sourcegraph.NewConn(context.Background(), sourcegraph.NewPlainObjectStream(stream), h, opts...)
	t.Cleanup(func() {
		_ = p.Link.Close()
		_ = c.Close()
		script.Get(t, c.DisconnectNotify())
		<-c.Conn().Done()
	})
	return c, p
}

// call makes a call in the background.
func call(ctx context.Context, c jsonrpc2.JSONRPC2, method string, result any, opts ...jsonrpc2.CallOption) <-chan error {
	done := make(chan error, 1)
	go func() { done <- c.Call(ctx, method, nil, result, opts...) }()
	return done
}

// Answers out of order, garbage between them and errors of any shape harm no other
// call.
func TestStrangeAnswers(t *testing.T) {
	c, p := play(t, nil)
	calls, results := map[string]<-chan error{}, map[string]*any{}
	for _, method := range []string{"first", "string", "number", "broken", "both", "last"} {
		results[method] = new(any)
		calls[method] = call(t.Context(), c, method, results[method])
	}
	lines := p.ReadBy(len(calls))
	p.Say(`Server listening on {port}`)
	p.Say(`{"jsonrpc":"2.0","id":%s,"result":"l"}`, lines["last"].ID)
	p.Say(`{"jsonrpc":"2.0","id":987654321,"result":1}`)
	p.Say(`{"jsonrpc":"2.0","error":{"code":-32700,"message":"what?"}}`)
	p.Say(`[]`)
	p.Say(`{"jsonrpc":"2.0","id":%s,"error":"text"}`, lines["string"].ID)
	p.Say(`{"jsonrpc":"2.0","id":%s,"error":7}`, lines["number"].ID)
	p.Say(`{"jsonrpc":"2.0","id":%s,"result":{]}`, lines["broken"].ID)
	p.Say(`{"jsonrpc":"2.0","id":%s,"result":1,"error":{"code":1,"message":"no"}}`, lines["both"].ID)
	p.Say(`{"jsonrpc":"2.0","id":%s,"result":"f"}{"jsonrpc":"2.0","method":"nobody listens"}`, lines["first"].ID)
	require.NoError(t, script.Get(t, calls["first"]))
	require.NoError(t, script.Get(t, calls["last"]))
	require.Equal(t, "f", *results["first"])
	require.Equal(t, "l", *results["last"])
	require.Equal(t, &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: "text"}, script.Get(t, calls["string"]))
	require.Equal(t, &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: "7"}, script.Get(t, calls["number"]))
	require.ErrorIs(t, script.Get(t, calls["broken"]), conn.ErrInvalidAnswer)
	require.Equal(t, &jsonrpc2.Error{Code: 1, Message: "no"}, script.Get(t, calls["both"]))
	require.NoError(t, c.Conn().Err())
}

// A call that is given up leaves nothing behind, and its late answer harms nobody.
func TestCancel(t *testing.T) {
	for name, opts := range map[string][]jsonrpc2.CallOption{"plain": nil, "with options": {jsonrpc2.Meta(1)}} {
		t.Run(name, func(t *testing.T) {
			c, p := play(t, nil)
			ctx, cancel := context.WithCancel(t.Context())
			done := call(ctx, c, "a", nil, opts...)
			l := p.Read()
			cancel()
			require.Equal(t, context.Canceled, script.Get(t, done))
			require.Zero(t, c.Conn().Stats().Calls.Pending)
			p.Say(`{"jsonrpc":"2.0","id":%s,"result":1}`, l.ID)

			ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			done = call(ctx, c, "b", nil, opts...)
			p.Read()
			require.Equal(t, context.DeadlineExceeded, script.Get(t, done))

			next := call(t.Context(), c, "c", nil)
			p.Say(`{"jsonrpc":"2.0","id":%s,"result":1}`, p.Read().ID)
			require.NoError(t, script.Get(t, next))
			require.EqualValues(t, 1, c.Conn().Stats().Calls.Late)
		})
	}
}

// A Waiter can be waited for by many and again, and be given up.
func TestWaiter(t *testing.T) {
	c, p := play(t, nil)
	w, err := c.DispatchCall(t.Context(), "a", nil)
	require.NoError(t, err)
	l := p.Read()
	require.Equal(t, string(l.ID), w.ID().String())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, context.Canceled, w.Wait(ended, nil))
	p.Say(`{"jsonrpc":"2.0","id":%s,"result":[1]}`, l.ID)
	for range 2 {
		var raw json.RawMessage
		require.NoError(t, w.Wait(t.Context(), &raw))
		require.Equal(t, "[1]", string(raw))
		raw[1] = '2'
	}
	w.Cancel()
	require.NoError(t, w.Wait(ended, nil), "what has come is given")

	w, err = c.DispatchCall(t.Context(), "b", nil)
	require.NoError(t, err)
	w.Cancel()
	require.Equal(t, context.Canceled, w.Wait(t.Context(), nil))
	_, err = c.DispatchCall(ended, "c", nil)
	require.Equal(t, context.Canceled, err)
	done := call(t.Context(), c, "d", (*json.RawMessage)(nil))
	for l.Method != "d" {
		l = p.Read() // b may have been written before it was given up
	}
	p.Say(`{"jsonrpc":"2.0","id":%s,"result":1}`, l.ID)
	require.ErrorContains(t, script.Get(t, done), "nil *json.RawMessage")
}

// What pending calls end with when the connection does is what the library gives.
func TestEnds(t *testing.T) {
	for name, end := range map[string]func(jsonrpc2.JSONRPC2, *script.Peer, context.CancelFunc){
		"the peer closes": func(_ jsonrpc2.JSONRPC2, p *script.Peer, _ context.CancelFunc) { _ = p.Link.Close() },
		"the peer ends in a text": func(_ jsonrpc2.JSONRPC2, p *script.Peer, _ context.CancelFunc) {
			_, _ = io.WriteString(p.Link, `{"id"`)
			_ = p.Link.Close()
		},
		"this side closes": func(c jsonrpc2.JSONRPC2, _ *script.Peer, _ context.CancelFunc) { _ = c.Close() },
		"the context ends": func(_ jsonrpc2.JSONRPC2, _ *script.Peer, cancel context.CancelFunc) { cancel() },
	} {
		for side, open := range map[string]opener{
			"theirs": func(ctx context.Context, l net.Conn, h jsonrpc2.Handler) client {
				return jsonrpc2.NewConn(ctx, jsonrpc2.NewPlainObjectStream(l), h)
			},
			"ours": func(ctx context.Context, l net.Conn, h jsonrpc2.Handler) client {
				return sourcegraph.NewConn(ctx, sourcegraph.NewPlainObjectStream(l), h)
			},
		} {
			t.Run(name+"/"+side, func(t *testing.T) {
				stream, p := script.New(t)
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				handled := make(chan error, 1)
				c := open(ctx, stream, jsonrpc2.AsyncHandler(jsonrpc2.HandlerWithError(func(ctx context.Context, c *jsonrpc2.Conn, _ *jsonrpc2.Request) (any, error) {
					err := c.Call(context.Background(), "of the handler", nil, nil)
					<-ctx.Done()
					handled <- err
					return nil, nil
				}).SuppressErrClosed()))
				pending := []<-chan error{call(context.Background(), c, "a", nil), call(context.Background(), c, "b", nil)}
				p.ReadBy(2)
				p.Say(`{"jsonrpc":"2.0","method":"note"}`)
				require.Equal(t, "of the handler", p.Read().Method)
				end(c, p, cancel)
				for _, done := range pending {
					require.Equal(t, jsonrpc2.ErrClosed, script.Get(t, done))
				}
				require.Equal(t, jsonrpc2.ErrClosed, script.Get(t, handled))
				script.Get(t, c.DisconnectNotify())
				require.Equal(t, jsonrpc2.ErrClosed, c.Call(context.Background(), "c", nil, nil))
				require.Equal(t, jsonrpc2.ErrClosed, c.Notify(context.Background(), "c", nil))
				require.Equal(t, jsonrpc2.ErrClosed, c.Close())
			})
		}
	}
}

// Whatever id the peer takes, the answer carries it; two that the library cannot
// tell apart are two.
func TestOddIDs(t *testing.T) {
	release := make(chan struct{})
	_, p := play(t, jsonrpc2.AsyncHandler(jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
		<-release
		return req.Params, nil
	})))
	ids := []string{`0`, `1`, `"1"`, `"1'"`, `-1`, `"-1"`, `1.50`, `"1.50"`, `12345678901234567890123`, `""`, `"é\n"`, `9007199254740993`, `null`, `"null"`}
	for i, id := range ids {
		p.Say(`{"jsonrpc":"2.0","id":%s,"method":"m","params":[%d]}`, id, i)
	}
	close(release)
	answers := map[string]string{}
	for range ids {
		l := p.Read()
		answers[string(l.Result)] = string(l.ID)
	}
	for i, id := range ids {
		want := id
		if id == `null` {
			want = "" // a json.RawMessage does not tell null from nothing
		}
		got := answers[fmt.Sprintf("[%d]", i)]
		if got == "null" {
			got = ""
		}
		require.Equal(t, want, got)
	}
}

// A handler that is busy holds up no answer; what comes behind it keeps its order,
// and is lost by nobody when it is more than the backlog.
func TestBusyHandler(t *testing.T) {
	const backlog, notes = 4, 64
	var seen []string
	all := make(chan struct{})
	entered := make(chan struct{})
	var c *sourcegraph.Conn
	ready := make(chan struct{})
	h := jsonrpc2.HandlerWithError(func(ctx context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
		if len(seen) == 0 {
			close(entered)
			<-ready
			if err := c.Call(ctx, "nested", nil, nil); err != nil {
				return nil, err
			}
		}
		seen = append(seen, req.Method)
		if len(seen) == notes {
			close(all)
		}
		return nil, nil
	})
	c, p := play(t, h, sourcegraph.With(conn.Options{MaxQueued: backlog}))
	for i := range backlog {
		p.Say(`{"jsonrpc":"2.0","method":"%d"}`, i)
	}
	script.Get(t, entered)
	outer := call(t.Context(), c, "outer", nil)
	p.Say(`{"jsonrpc":"2.0","id":%s,"result":1}`, p.Read().ID)
	require.NoError(t, script.Get(t, outer))
	close(ready)
	l := p.Read()
	require.Equal(t, "nested", l.Method)
	p.Say(`{"jsonrpc":"2.0","id":%s,"result":1}`, l.ID)
	for i := backlog; i < notes; i++ {
		p.Say(`{"jsonrpc":"2.0","method":"%d"}`, i)
	}
	script.Get(t, all)
	for i, method := range seen {
		require.Equal(t, fmt.Sprint(i), method)
	}
}

// Close does not wait for a handler that keeps the reader waiting.
func TestCloseWithFullBacklog(t *testing.T) {
	release, entered := make(chan struct{}), make(chan struct{})
	var once sync.Once
	c, p := play(t, jsonrpc2.HandlerWithError(func(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) (any, error) {
		once.Do(func() { close(entered) })
		<-release
		return nil, nil
	}), sourcegraph.With(conn.Options{MaxQueued: -1, CloseTimeout: time.Millisecond}))
	for range 10 {
		p.Say(`{"jsonrpc":"2.0","method":"m"}`)
	}
	script.Get(t, entered)
	pending := call(t.Context(), c, "a", nil)
	p.Read()
	require.NoError(t, c.Close())
	require.Equal(t, jsonrpc2.ErrClosed, script.Get(t, pending))
	script.Get(t, c.DisconnectNotify())
	close(release)
}

// A handler that panics or ends its goroutine harms itself alone.
func TestHandlerThatFails(t *testing.T) {
	panics := make(chan any, 1)
	_, p := play(t, jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
		switch req.Method {
		case "panic":
			panic("oh")
		case "exit":
			runtime.Goexit()
		}
		return "fine", nil
	}), sourcegraph.With(conn.Options{OnPanic: func(v any, _ []byte) { panics <- v }}))
	p.Say(`{"jsonrpc":"2.0","id":1,"method":"panic"}`)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"handler panicked"}}`, p.Read().Text)
	require.EqualError(t, script.Get(t, panics).(error), "handler of panic: oh")
	p.Say(`{"jsonrpc":"2.0","method":"panic"}`)
	script.Get(t, panics)
	p.Say(`{"jsonrpc":"2.0","method":"exit"}`)
	p.Say(`{"jsonrpc":"2.0","id":2,"method":"m"}`)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":2,"result":"fine"}`, p.Read().Text)
}

// Under the LSP profile a cancel goes both ways.
func TestLSP(t *testing.T) {
	cancelled := make(chan struct{})
	c, p := play(t, jsonrpc2.AsyncHandler(jsonrpc2.HandlerWithError(func(ctx context.Context, _ *jsonrpc2.Conn, _ *jsonrpc2.Request) (any, error) {
		<-ctx.Done()
		close(cancelled)
		return nil, ctx.Err()
	})), sourcegraph.With(conn.Options{Profile: codec.LSP}))
	ctx, cancel := context.WithCancel(t.Context())
	done := call(ctx, c, "a", nil)
	l := p.Read()
	cancel()
	require.Equal(t, context.Canceled, script.Get(t, done))
	require.JSONEq(t, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":`+string(l.ID)+`}}`, p.Read().Text)

	p.Say(`{"jsonrpc":"2.0","id":"x","method":"m"}`)
	p.Say(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"x"}}`)
	script.Get(t, cancelled)
	require.Contains(t, string(p.Read().Error), "-32800")
}

func TestLimits(t *testing.T) {
	c, p := play(t, nil, sourcegraph.With(conn.Options{Timeout: time.Millisecond, MaxFrameOut: 100}))
	require.ErrorIs(t, c.Call(t.Context(), "m", make([]byte, 100), nil), conn.ErrTooLarge)
	go p.Drop()
	require.ErrorIs(t, c.Call(t.Context(), "m", nil, nil), conn.ErrTimeout)

	stream, _ := script.New(t)
	var lines []string
	refused := sourcegraph.NewConn(t.Context(), sourcegraph.NewLineStream(stream), nil,
		sourcegraph.With(conn.Options{IdleTimeout: 1 << 62}), sourcegraph.SetLogger(logger(func(s string) { lines = append(lines, s) })))
	require.Equal(t, jsonrpc2.ErrClosed, refused.Call(t.Context(), "m", nil, nil))
	require.Equal(t, jsonrpc2.ErrClosed, refused.Notify(t.Context(), "m", nil))
	require.Equal(t, jsonrpc2.ErrClosed, refused.Reply(t.Context(), jsonrpc2.ID{}, nil))
	_, err := refused.DispatchCall(t.Context(), "m", nil)
	require.Equal(t, jsonrpc2.ErrClosed, err)
	require.Equal(t, jsonrpc2.ErrClosed, refused.Close())
	require.Nil(t, refused.Conn())
	script.Get(t, refused.DisconnectNotify())
	require.Len(t, lines, 1)
}

type logger func(string)

func (l logger) Printf(format string, v ...any) { l(fmt.Sprintf(format, v...)) }
