package creachadair_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/creachadair/jrpc2/handler"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/creachadair"
	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/script"
)

// response and client are what both libraries have.
type response interface {
	json.Marshaler
	ID() string
	SetID(string)
	Error() *jrpc2.Error
	UnmarshalResult(any) error
	ResultString() string
}

type client interface {
	CallResult(ctx context.Context, method string, params, result any) error
	Notify(ctx context.Context, method string, params any) error
	Close() error
	IsStopped() bool
}

// options are those that both take.
type options struct {
	onNotify   func(*jrpc2.Request)
	onCallback jrpc2.Handler
	onCancel   func(id string, err *jrpc2.Error)
	onStop     func(error)
}

// library opens clients of one library.
type library struct {
	open  func(channel.Channel, options) client
	call  func(client, context.Context, string, any) (response, error)
	batch func(client, context.Context, []jrpc2.Spec) ([]response, error)
}

func generic[R response](r R, err error) (response, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

func generics[R response](rs []R, err error) (out []response, _ error) {
	for _, r := range rs {
		out = append(out, r)
	}
	return out, err
}

var libraries = map[string]library{
	"theirs": {
		open: func(ch channel.Channel, o options) client {
			their := &jrpc2.ClientOptions{OnNotify: o.onNotify, OnCallback: o.onCallback}
			if o.onCancel != nil {
				their.OnCancel = func(_ *jrpc2.Client, r *jrpc2.Response) { o.onCancel(r.ID(), r.Error()) }
			}
			if o.onStop != nil {
				their.OnStop = func(_ *jrpc2.Client, err error) { o.onStop(err) }
			}
			return jrpc2.NewClient(ch, their)
		},
		call: func(c client, ctx context.Context, method string, params any) (response, error) {
			return generic(c.(*jrpc2.Client).Call(ctx, method, params))
		},
		batch: func(c client, ctx context.Context, specs []jrpc2.Spec) ([]response, error) {
			return generics(c.(*jrpc2.Client).Batch(ctx, specs))
		},
	},
	"ours": {
		open: func(ch channel.Channel, o options) client {
			our := &creachadair.ClientOptions{OnNotify: o.onNotify, OnCallback: o.onCallback}
			if o.onCancel != nil {
				our.OnCancel = func(_ *creachadair.Client, r *creachadair.Response) { o.onCancel(r.ID(), r.Error()) }
			}
			if o.onStop != nil {
				our.OnStop = func(_ *creachadair.Client, err error) { o.onStop(err) }
			}
			return creachadair.NewClient(ch, our)
		},
		call: func(c client, ctx context.Context, method string, params any) (response, error) {
			return generic(c.(*creachadair.Client).Call(ctx, method, params))
		},
		batch: func(c client, ctx context.Context, specs []jrpc2.Spec) ([]response, error) {
			return generics(c.(*creachadair.Client).Batch(ctx, specs))
		},
	},
}

// framings are the server's and, for each library, the client's.
var framings = map[string]map[string]channel.Framing{
	"line":    {"server": channel.Line, "theirs": channel.Line, "ours": creachadair.Line},
	"lsp":     {"server": channel.LSP, "theirs": channel.LSP, "ours": creachadair.LSP},
	"strict":  {"server": channel.StrictHeader("a/b"), "theirs": channel.StrictHeader("a/b"), "ours": creachadair.Header("a/b")},
	"header":  {"server": channel.Header(""), "theirs": channel.Header(""), "ours": creachadair.Header("")},
	"raw":     {"server": channel.RawJSON, "theirs": channel.RawJSON, "ours": creachadair.RawJSON},
	"foreign": {"server": channel.Split(0), "theirs": channel.Split(0), "ours": channel.Split(0)},
}

type pairArgs struct{ A, B int }

// methods are the server's.
func methods(release <-chan struct{}, noted chan<- string) handler.Map {
	return handler.Map{
		"sum":  handler.New(func(_ context.Context, a pairArgs) int { return a.A + a.B }),
		"echo": func(_ context.Context, r *jrpc2.Request) (any, error) { return json.RawMessage(r.ParamString()), nil },
		"held": handler.New(func(ctx context.Context) string { <-release; return "released" }),
		"null": handler.New(func(context.Context) any { return nil }),
		"note": handler.New(func(_ context.Context, s []string) error { noted <- s[0]; return nil }),
		"fail": handler.New(func(context.Context) error {
			return (&jrpc2.Error{Code: -32050, Message: "no more"}).WithData([]int{7})
		}),
		"plain": handler.New(func(context.Context) error { return errors.New("plain") }),
		"late":  handler.New(func(context.Context) error { return context.DeadlineExceeded }),
		"ask": handler.New(func(ctx context.Context, s []string) (string, error) {
			server := jrpc2.ServerFromContext(ctx)
			if err := server.Notify(ctx, "asking", s); err != nil {
				return "", err
			}
			r, err := server.Callback(ctx, s[0], s)
			if err != nil {
				return err.Error(), nil
			}
			return r.ResultString(), nil
		}),
		"drop": handler.New(func(ctx context.Context) error { go jrpc2.ServerFromContext(ctx).Stop(); return nil }),
	}
}

// Both clients do the same with the library's server, over every framing.
func TestServer(t *testing.T) {
	for framing, of := range framings {
		for name, lib := range libraries {
			t.Run(framing+"/"+name, func(t *testing.T) {
				near, far := script.Pair(t)
				converse(t, lib, of[name](near, near), of["server"](far, far))
			})
		}
	}
	for name, lib := range libraries {
		t.Run("direct/"+name, func(t *testing.T) {
			near, far := channel.Direct()
			converse(t, lib, near, far)
		})
	}
}

func converse(t *testing.T, lib library, near, far channel.Channel) {
	ctx := t.Context()
	release, noted, notified, stopped := make(chan struct{}), make(chan string, 2), make(chan string, 10), make(chan error, 1)
	s := jrpc2.NewServer(methods(release, noted), &jrpc2.ServerOptions{AllowPush: true, Concurrency: 8}).Start(far)
	c := lib.open(near, options{
		onNotify: func(r *jrpc2.Request) { notified <- r.Method() + r.ParamString() },
		onCallback: func(_ context.Context, r *jrpc2.Request) (any, error) {
			switch r.Method() {
			case "good":
				var s []string
				err := r.UnmarshalParams(&s)
				return map[string]any{"got": s}, err
			case "panic":
				panic("oh")
			}
			return nil, &jrpc2.Error{Code: 5, Message: "cannot"}
		},
		onStop: func(err error) { stopped <- err },
	})

	held := make(chan error, 1)
	var text string
	go func() { held <- c.CallResult(ctx, "held", nil, &text) }()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 20 {
				var sum int
				if err := c.CallResult(ctx, "sum", pairArgs{i, j}, &sum); err != nil || sum != i+j {
					t.Errorf("%d + %d = %d, %v", i, j, sum, err)
				}
			}
		})
	}
	wg.Wait()
	close(release)
	require.NoError(t, script.Get(t, held))
	require.Equal(t, "released", text)

	r, err := lib.call(c, ctx, "echo", map[string]any{"a": []int{1}, "b": nil})
	require.NoError(t, err)
	require.Nil(t, r.Error())
	require.JSONEq(t, `{"a":[1],"b":null}`, r.ResultString())
	var raw json.RawMessage
	require.NoError(t, r.UnmarshalResult(&raw))
	require.Equal(t, r.ResultString(), string(raw))
	require.NoError(t, r.UnmarshalResult(&struct{ A []int }{}))
	require.Error(t, r.UnmarshalResult(jrpc2.StrictFields(&struct{ A []int }{})))
	require.Error(t, r.UnmarshalResult(new(int)))
	require.NotEmpty(t, r.ID())
	r.SetID(`"x"`)
	message, err := r.MarshalJSON()
	require.NoError(t, err)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":"x","result":{"a":[1],"b":null}}`, string(message))
	r, err = lib.call(c, ctx, "null", nil)
	require.NoError(t, err)
	require.Equal(t, "null", r.ResultString())

	for method, want := range map[string]error{
		"fail":    &jrpc2.Error{Code: -32050, Message: "no more", Data: json.RawMessage("[7]")},
		"plain":   &jrpc2.Error{Code: jrpc2.SystemError, Message: "plain"},
		"unknown": &jrpc2.Error{Code: jrpc2.MethodNotFound, Message: "method not found", Data: json.RawMessage(`"unknown"`)},
		"late":    context.DeadlineExceeded,
	} {
		err := c.CallResult(ctx, method, nil, nil)
		if e, ok := errors.AsType[*jrpc2.Error](err); ok && method == "unknown" {
			e.Data = json.RawMessage(`"unknown"`)
			e.Message = "method not found"
		}
		require.Equal(t, want, err, method)
	}
	invalid := &jrpc2.Error{Code: jrpc2.InvalidRequest, Message: "invalid parameters: array or object required"}
	require.Equal(t, invalid, c.CallResult(ctx, "echo", 7, nil))
	require.Equal(t, invalid, c.Notify(ctx, "echo", "text"))
	require.Error(t, c.Notify(ctx, "echo", func() {}))

	require.NoError(t, c.Notify(ctx, "note", []string{"n"}))
	require.Equal(t, "n", script.Get(t, noted))
	for method, want := range map[string]string{"good": `{"got":["good"]}`, "bad": "[5] cannot", "panic": "[-32098] panic in callback handler: oh"} {
		require.NoError(t, c.CallResult(ctx, "ask", []string{method}, &text))
		require.Equal(t, want, text)
		require.Equal(t, `asking["`+method+`"]`, script.Get(t, notified))
	}

	rs, err := lib.batch(c, ctx, []jrpc2.Spec{
		{Method: "sum", Params: pairArgs{1, 2}}, {Method: "note", Params: []string{"b"}, Notify: true}, {Method: "fail"}, {Method: "sum", Params: pairArgs{3, 4}},
	})
	require.NoError(t, err)
	require.Len(t, rs, 3)
	require.Equal(t, []string{"3", "", "7"}, []string{rs[0].ResultString(), rs[1].ResultString(), rs[2].ResultString()})
	require.EqualValues(t, -32050, rs[1].Error().Code)
	require.Equal(t, rs[1].Error(), rs[1].UnmarshalResult(new(int)))
	rs[1].SetID("5")
	message, err = rs[1].MarshalJSON()
	require.NoError(t, err)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":5,"error":{"code":-32050,"message":"no more","data":[7]}}`, string(message))
	require.Equal(t, "b", script.Get(t, noted))
	_, err = lib.batch(c, ctx, nil)
	require.ErrorContains(t, err, "empty request batch")
	_, err = lib.batch(c, ctx, []jrpc2.Spec{{Method: "sum", Params: 1}})
	require.Equal(t, invalid, err)

	require.False(t, c.IsStopped())
	_ = c.CallResult(ctx, "drop", nil, nil) // answered or not
	require.Equal(t, io.EOF, script.Get(t, stopped))
	require.True(t, c.IsStopped())
	require.Equal(t, io.EOF, c.Notify(ctx, "note", nil))
	require.Equal(t, io.EOF, c.CallResult(ctx, "sum", nil, nil))
	require.NoError(t, c.Close())
	require.NoError(t, s.Wait())
}
