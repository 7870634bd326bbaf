package sourcegraph_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/script"
	"github.com/correlator-go/correlator/adapters/jsonrpc2/sourcegraph"
)

// client is what both connections have.
type client interface {
	jsonrpc2.JSONRPC2
	DisconnectNotify() <-chan struct{}
}

type opener func(context.Context, net.Conn, jsonrpc2.Handler) client

// streams are the framings: the library's stream and ours for each.
var streams = map[string][2]func(io.ReadWriteCloser) jsonrpc2.ObjectStream{
	"headers": buffered(jsonrpc2.VSCodeObjectCodec{}),
	"varint":  buffered(jsonrpc2.VarintObjectCodec{}),
	"plain":   {jsonrpc2.NewPlainObjectStream, sourcegraph.NewPlainObjectStream},
	"codec":   buffered(jsonrpc2.PlainObjectCodec{}), //lint:ignore SA1019 deprecated, and still in use
	"lines":   {jsonrpc2.NewPlainObjectStream, sourcegraph.NewLineStream},
	"custom":  buffered(quoted{}),
	"foreign": {jsonrpc2.NewPlainObjectStream, jsonrpc2.NewPlainObjectStream},
}

func buffered(c jsonrpc2.ObjectCodec) [2]func(io.ReadWriteCloser) jsonrpc2.ObjectStream {
	return [2]func(io.ReadWriteCloser) jsonrpc2.ObjectStream{
		func(l io.ReadWriteCloser) jsonrpc2.ObjectStream { return jsonrpc2.NewBufferedStream(l, c) },
		func(l io.ReadWriteCloser) jsonrpc2.ObjectStream { return sourcegraph.NewBufferedStream(l, c) },
	}
}

// quoted is a framing that the library does not have: a message is a JSON string.
type quoted struct{}

func (quoted) WriteObject(w io.Writer, obj any) error {
	text, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(string(text))
}

func (quoted) ReadObject(r *bufio.Reader, v any) error {
	line, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	var text string
	if err := json.Unmarshal([]byte(line), &text); err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), v)
}

// serving is the handler of the tests' servers, as a user of the library writes it.
func serving(release <-chan struct{}) jsonrpc2.Handler {
	return jsonrpc2.AsyncHandler(jsonrpc2.HandlerWithError(func(ctx context.Context, c *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
		switch req.Method {
		case "echo":
			return req.Params, nil
		case "held":
			<-release
			return "released", nil
		case "null":
			return nil, nil
		case "fail":
			e := &jsonrpc2.Error{Code: -32050, Message: "no more"}
			e.SetError([]int{7})
			return nil, e
		case "plain fail":
			return nil, errors.New("plain")
		case "ask back":
			var answer string
			if err := c.Call(ctx, "question", []string{"how?"}, &answer, jsonrpc2.Meta("m")); err != nil {
				return nil, err
			}
			err := c.Call(ctx, "impossible", nil, nil)
			return fmt.Sprintf("%s, %v", answer, err), c.Notify(ctx, "asked", answer)
		case "hang up":
			return nil, c.Close()
		}
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: req.Method}
	}).SuppressErrClosed())
}

// asked is the handler of the tests' clients.
func asked(notes chan<- string) jsonrpc2.Handler {
	return jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
		switch req.Method {
		case "question":
			return "so", nil
		case "asked":
			notes <- string(*req.Params)
			return nil, nil
		}
		return nil, &jsonrpc2.Error{Code: 5, Message: "cannot"}
	})
}

// The library and this package do the same with each other and with themselves,
// over every framing.
func TestBothEnds(t *testing.T) {
	for framing, make := range streams {
		theirs := func(ctx context.Context, c net.Conn, h jsonrpc2.Handler) client {
			return jsonrpc2.NewConn(ctx, make[0](c), h)
		}
		ours := func(ctx context.Context, c net.Conn, h jsonrpc2.Handler) client {
			return sourcegraph.NewConn(ctx, make[1](c), h)
		}
		t.Run(framing+"/theirs to theirs", func(t *testing.T) { converse(t, theirs, theirs) })
		t.Run(framing+"/ours to theirs", func(t *testing.T) { converse(t, ours, theirs) })
		t.Run(framing+"/theirs to ours", func(t *testing.T) { converse(t, theirs, ours) })
		t.Run(framing+"/ours to ours", func(t *testing.T) { converse(t, ours, ours) })
	}
}

func converse(t *testing.T, openClient, openServer opener) {
	near, far := script.Pair(t)
	ctx := t.Context()
	release, notes := make(chan struct{}), make(chan string, 1)
	s := openServer(ctx, far, serving(release))
	c := openClient(ctx, near, asked(notes))

	held := make(chan error, 1)
	var text string
	go func() { held <- c.Call(ctx, "held", nil, &text) }()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 20 {
				var got []int
				if err := c.Call(ctx, "echo", []int{i, j}, &got); err != nil || len(got) != 2 || got[0] != i || got[1] != j {
					t.Errorf("%d %d: %v, %v", i, j, got, err)
				}
			}
		})
	}
	wg.Wait()
	short, cancel := context.WithCancel(ctx)
	cancel()
	require.Equal(t, context.Canceled, c.Call(short, "held", nil, nil))
	close(release)
	require.NoError(t, script.Get(t, held))
	require.Equal(t, "released", text)

	var any json.RawMessage
	require.NoError(t, c.Call(ctx, "null", nil, &any))
	require.Equal(t, "null", string(any))
	require.NoError(t, c.Call(ctx, "echo", map[string]int{"a": 1}, &any, nil))
	require.JSONEq(t, `{"a":1}`, string(any))
	require.NoError(t, c.Call(ctx, "echo", nil, nil))

	data := json.RawMessage("[7]")
	require.Equal(t, &jsonrpc2.Error{Code: -32050, Message: "no more", Data: &data}, c.Call(ctx, "fail", nil, nil))
	require.Equal(t, &jsonrpc2.Error{Message: "plain"}, c.Call(ctx, "plain fail", nil, nil))
	require.Equal(t, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "other"}, c.Call(ctx, "other", nil, nil))
	var wrong int
	require.IsType(t, &json.UnmarshalTypeError{}, errorsAs(c.Call(ctx, "echo", []int{1}, &wrong)))
	require.Error(t, c.Call(ctx, "echo", func() {}, nil))

	require.NoError(t, c.Call(ctx, "ask back", nil, &text))
	require.Equal(t, "so, jsonrpc2: code 5 message: cannot", text)
	require.Equal(t, `"so"`, script.Get(t, notes))

	require.Equal(t, jsonrpc2.ErrClosed, c.Call(ctx, "hang up", nil, nil))
	script.Get(t, c.DisconnectNotify())
	script.Get(t, s.DisconnectNotify())
	require.Equal(t, jsonrpc2.ErrClosed, c.Call(ctx, "echo", nil, nil))
	require.Equal(t, jsonrpc2.ErrClosed, c.Notify(ctx, "echo", nil))
	require.Equal(t, jsonrpc2.ErrClosed, c.Close())
	require.Equal(t, jsonrpc2.ErrClosed, s.Close())
}

// errorsAs is the type error in err, or err.
func errorsAs(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return e
	}
	return err
}
