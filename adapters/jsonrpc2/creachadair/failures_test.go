package creachadair_test

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/creachadair"
	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/script"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// play makes a client with a scripted server, both gone after the test.
func play(t *testing.T, o *creachadair.ClientOptions) (*creachadair.Client, *script.Peer) {
	stream, p := script.New(t)
	c := creachadair.NewClient(creachadair.Line(stream, stream), o)
	t.Cleanup(func() {
		_ = p.Link.Close()
		_ = c.Close()
		<-c.Conn().Done()
	})
	return c, p
}

func call(ctx context.Context, c client, method string, result any) <-chan error {
	done := make(chan error, 1)
	go func() { done <- c.CallResult(ctx, method, nil, result) }()
	return done
}

// Answers out of order, garbage between them and errors of any shape harm no other
// call.
func TestStrangeAnswers(t *testing.T) {
	var logged atomic.Int32
	c, p := play(t, &creachadair.ClientOptions{Logger: func(string) { logged.Add(1) }})
	calls, results := map[string]<-chan error{}, map[string]*any{}
	for _, method := range []string{"first", "string", "code", "broken", "cut", "array", "last"} {
		results[method] = new(any)
		calls[method] = call(t.Context(), c, method, results[method])
	}
	lines := p.ReadBy(len(calls))
	p.Say(`Server listening on {port}`)
	p.Say(`{"jsonrpc":"2.0","id":%s,"result":"l"}`, lines["last"].ID)
	p.Say(`{"jsonrpc":"2.0","id":987654321,"result":1}`)
	p.Say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`)
	p.Say(`{"jsonrpc":"2.0","id":%s,"error":"text"}`, lines["string"].ID)
	p.Say(`{"jsonrpc":"2.0","id":%s,"error":{"code":99999999999,"message":"big"}}`, lines["code"].ID)
	p.Say(`{"jsonrpc":"2.0","id":%s,"result":{]}`, lines["broken"].ID)
	p.Say(`{"jsonrpc":"2.0","id":%s,"result":{`, lines["cut"].ID)
	p.Say(`[{"jsonrpc":"2.0","id":%s,"result":"a"}]`, lines["array"].ID)
	p.Say(`{"jsonrpc":"2.0","method":"nobody listens"}`)
	p.Say(`{"jsonrpc":"2.0","id":1.50,"method":"nobody answers"}`)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":1.50,"error":{"code":-32601,"message":"method not found"}}`, p.Read().Text)
	p.Say(`{"result":"f","id":%s}`, lines["first"].ID)
	for _, method := range []string{"first", "last", "array"} {
		require.NoError(t, script.Get(t, calls[method]))
		require.Equal(t, method[:1], *results[method])
	}
	require.Equal(t, &jrpc2.Error{Code: jrpc2.InternalError, Message: "text"}, script.Get(t, calls["string"]))
	require.Equal(t, &jrpc2.Error{Code: jrpc2.InternalError, Message: "big"}, script.Get(t, calls["code"]))
	for _, method := range []string{"broken", "cut"} {
		require.Equal(t, jrpc2.InvalidRequest, jrpc2.ErrorCode(script.Get(t, calls[method])))
	}
	require.False(t, c.IsStopped())
	require.NoError(t, c.Close())
	require.NotZero(t, logged.Load())
}

// What calls end with when their context or the client does is what the library
// gives.
func TestEnds(t *testing.T) {
	for name, lib := range libraries {
		t.Run(name+"/context", func(t *testing.T) {
			stream, p := script.New(t)
			cancelled := make(chan string, 1)
			c := lib.open(framings["line"][name](stream, stream), options{onCancel: func(id string, err *jrpc2.Error) { cancelled <- id + " " + err.Error() }})
			ctx, cancel := context.WithCancel(t.Context())
			done := call(ctx, c, "a", nil)
			id := string(p.Read().ID)
			cancel()
			require.Equal(t, context.Canceled, script.Get(t, done))
			require.Equal(t, id+" [-32097] context canceled", script.Get(t, cancelled))
			p.Say(`{"jsonrpc":"2.0","id":%s,"result":1}`, id)
			ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			done = call(ctx, c, "b", nil)
			id = string(p.Read().ID)
			require.Equal(t, context.DeadlineExceeded, script.Get(t, done))
			require.Equal(t, id+" [-32096] context deadline exceeded", script.Get(t, cancelled))

			ctx, cancel = context.WithCancel(t.Context())
			go func() { p.Read(); cancel() }()
			rs, err := lib.batch(c, ctx, []jrpc2.Spec{{Method: "c"}})
			require.NoError(t, err)
			require.Equal(t, jrpc2.Cancelled, rs[0].Error().Code)
			script.Get(t, cancelled)
			require.NoError(t, c.Close())
		})
		for end, what := range map[string]func(client, *script.Peer){
			"server closes": func(_ client, p *script.Peer) { _ = p.Link.Close() },
			"client closes": func(c client, _ *script.Peer) { _ = c.Close() },
		} {
			t.Run(name+"/"+end, func(t *testing.T) {
				stream, p := script.New(t)
				stopped := make(chan error, 1)
				entered, inside := make(chan struct{}), make(chan error, 1)
				c := lib.open(framings["line"][name](stream, stream), options{
					onStop: func(err error) { stopped <- err },
					onCallback: func(ctx context.Context, _ *jrpc2.Request) (any, error) {
						close(entered)
						<-ctx.Done()
						inside <- ctx.Err()
						return nil, nil
					},
				})
				p.Say(`{"jsonrpc":"2.0","id":1,"method":"wait"}`)
				script.Get(t, entered)
				pending := []<-chan error{call(t.Context(), c, "a", nil), call(t.Context(), c, "b", nil)}
				p.ReadBy(2)
				what(c, p)
				for _, done := range pending {
					require.Equal(t, context.Canceled, script.Get(t, done))
				}
				why := map[string]error{"server closes": io.EOF, "client closes": creachadair.ErrStopped}[end]
				require.EqualError(t, script.Get(t, stopped), why.Error())
				require.Equal(t, context.Canceled, script.Get(t, inside))
				require.EqualError(t, c.CallResult(t.Context(), "c", nil, nil), why.Error())
				_, err := lib.batch(c, t.Context(), []jrpc2.Spec{{Method: "n", Notify: true}})
				require.EqualError(t, err, why.Error())
				require.True(t, c.IsStopped())
				require.NoError(t, c.Close())
			})
		}
	}
}

// A connection that breaks is told as the library tells it.
func TestBrokenConnection(t *testing.T) {
	c, p := play(t, nil)
	done := call(t.Context(), c, "a", nil)
	p.Read()
	_, err := io.WriteString(p.Link, `{"id"`)
	require.NoError(t, err)
	require.NoError(t, p.Link.Close())
	require.Equal(t, &jrpc2.Error{Code: jrpc2.InternalError, Message: io.ErrUnexpectedEOF.Error()}, script.Get(t, done))
	require.Equal(t, io.ErrUnexpectedEOF, c.Notify(t.Context(), "a", nil))
	require.Equal(t, io.ErrUnexpectedEOF, c.Close())
}

// Handlers may call, and the client is in the context of callbacks.
func TestHandlersThatCall(t *testing.T) {
	noted := make(chan error, 1)
	var c *creachadair.Client
	ready := make(chan struct{})
	c, p := play(t, &creachadair.ClientOptions{
		OnNotify: func(*jrpc2.Request) {
			<-ready
			noted <- c.CallResult(context.Background(), "from a notification", nil, nil)
		},
		OnCallback: func(ctx context.Context, r *jrpc2.Request) (any, error) {
			own := creachadair.ClientFromContext(ctx)
			return r.ID(), own.CallResult(ctx, "from a callback", nil, new(any))
		},
	})
	close(ready)
	require.Nil(t, creachadair.ClientFromContext(t.Context()))
	p.Say(`{"jsonrpc":"2.0","method":"note"}`)
	p.Say(`{"jsonrpc":"2.0","id":"x","method":"ask"}`)
	lines := p.ReadBy(2)
	p.Say(`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"no"}}`, lines["from a notification"].ID)
	require.Equal(t, &jrpc2.Error{Code: 1, Message: "no"}, script.Get(t, noted))
	p.Say(`{"jsonrpc":"2.0","id":%s,"result":1}`, lines["from a callback"].ID)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":"x","result":"\"x\""}`, p.Read().Text)
}

func TestLimits(t *testing.T) {
	c, p := play(t, &creachadair.ClientOptions{Conn: conn.Options{Timeout: time.Millisecond, MaxFrameOut: 100, Profile: codec.LSP}})
	require.ErrorIs(t, c.CallResult(t.Context(), "m", make([][]int, 100), nil), conn.ErrTooLarge)
	_, err := c.Batch(t.Context(), []jrpc2.Spec{{Method: "a"}, {Method: "m", Params: make([][]int, 100)}})
	require.ErrorIs(t, err, conn.ErrTooLarge)
	require.Equal(t, context.DeadlineExceeded, c.CallResult(t.Context(), "m", nil, nil))
	for p.Read().Method != "$/cancelRequest" { // the call may have been written
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, context.Canceled, c.CallResult(ended, "m", nil, nil))
	require.Equal(t, context.Canceled, c.Notify(ended, "m", nil))

	stream, _ := script.New(t)
	defer stream.Close()
	bad := &creachadair.ClientOptions{Conn: conn.Options{IdleTimeout: 1 << 62}}
	_, err = creachadair.Open(creachadair.Line(stream, stream), bad)
	_, ok := errors.AsType[*conn.OptionError](err)
	require.True(t, ok)
	require.Panics(t, func() { creachadair.NewClient(creachadair.Line(stream, stream), bad) })
}
