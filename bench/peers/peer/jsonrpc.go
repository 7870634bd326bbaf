package peer

import (
	"bufio"
	"context"
	"encoding/json"
	"io"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/ethereum/go-ethereum/rpc"
	sgjsonrpc2 "github.com/sourcegraph/jsonrpc2"
	xjsonrpc2 "golang.org/x/exp/jsonrpc2"

	"github.com/correlator-go/correlator/bench/peers/server"
)

// calling makes a client of a function that makes one call with encoded params
// and keeps the result undecoded. wrapped says that the client puts params into
// an array.
func calling(c io.Closer, wrapped bool, call func(ctx context.Context, method string, params json.RawMessage, result *json.RawMessage) error) Client {
	return Client{
		Caller: func(w Work) (func() error, error) {
			params := json.RawMessage(w.quoted())
			want := params
			if wrapped {
				want = append(append(json.RawMessage("["), params...), ']')
			}
			return func() error {
				ctx, cancel := w.context()
				defer cancel()
				var result json.RawMessage
				if err := call(ctx, w.Name, params, &result); err != nil {
					return err
				}
				return w.check(result, want)
			}, nil
		},
		Close: c.Close,
	}
}

// sourcegraph/jsonrpc2 over its plain stream, which keeps one encoder and one
// decoder: a message a line. Its buffered stream makes a decoder per message.
var sourcegraph = Peer{
	Name: "sourcegraph", Class: JSON, Server: server.Lines, Timeouts: "context",
	Open: func(link Link) (Client, error) {
		stream, err := link.Dial()
		if err != nil {
			return Client{}, err
		}
		none := sgjsonrpc2.HandlerWithError(func(context.Context, *sgjsonrpc2.Conn, *sgjsonrpc2.Request) (any, error) { return nil, nil })
		c := sgjsonrpc2.NewConn(context.Background(), sgjsonrpc2.NewPlainObjectStream(stream), none)
		return calling(c, false, func(ctx context.Context, method string, params json.RawMessage, result *json.RawMessage) error {
			return c.Call(ctx, method, &params, result)
		}), nil
	},
}

// creachadair/jrpc2 over its line channel, the cheapest of its framings.
var jrpc2Peer = Peer{
	Name: "creachadair", Class: JSON, Server: server.Lines, Timeouts: "context",
	Open: func(link Link) (Client, error) {
		stream, err := link.Dial()
		if err != nil {
			return Client{}, err
		}
		c := jrpc2.NewClient(channel.Line(stream, stream), nil)
		// It refuses params that are neither an array nor an object.
		return Client{
			Caller: func(w Work) (func() error, error) {
				params := json.RawMessage("[" + string(w.quoted()) + "]")
				return func() error {
					ctx, cancel := w.context()
					defer cancel()
					var result json.RawMessage
					if err := c.CallResult(ctx, w.Name, params, &result); err != nil {
						return err
					}
					return w.check(result, params)
				}, nil
			},
			Close: c.Close,
		}, nil
	},
}

// go-ethereum/rpc over its own reader and writer of a stream, which all its
// socket transports use.
var goEthereum = Peer{
	Name: "go-ethereum", Class: JSON, Server: server.Lines, Timeouts: "context",
	Open: func(link Link) (Client, error) {
		stream, err := link.Dial()
		if err != nil {
			return Client{}, err
		}
		c, err := rpc.DialIO(context.Background(), stream, stream)
		if err != nil {
			return Client{}, err
		}
		return calling(closing(func() error {
			defer c.Close() // waits for the reader, which only the stream's end stops
			return stream.Close()
		}), true,
			func(ctx context.Context, method string, params json.RawMessage, result *json.RawMessage) error {
				return c.CallContext(ctx, result, method, params)
			}), nil
	},
}

// closing is a function as an io.Closer.
type closing func() error

// Close calls f.
func (f closing) Close() error { return f() }

// x/exp/jsonrpc2 with a framer of lines: one write a message instead of the two
// of its header framer, and no json.Decoder as in its raw one.
var xExp = Peer{
	Name: "x-exp", Class: JSON, Server: server.Lines, Timeouts: "context",
	Open: func(link Link) (Client, error) {
		ctx := context.Background()
		c, err := xjsonrpc2.Dial(ctx, dialer(link.Dial), xjsonrpc2.ConnectionOptions{Framer: lineFramer{}})
		if err != nil {
			return Client{}, err
		}
		return calling(c, false, func(ctx context.Context, method string, params json.RawMessage, result *json.RawMessage) error {
			return c.Call(ctx, method, params).Await(ctx, result)
		}), nil
	},
}

type dialer func() (io.ReadWriteCloser, error)

// Dial dials.
func (d dialer) Dial(context.Context) (io.ReadWriteCloser, error) { return d() }

type lineFramer struct{}

type lineReader struct{ in *bufio.Reader }

type lineWriter struct{ out io.Writer }

// Reader cuts lines.
func (lineFramer) Reader(r io.Reader) xjsonrpc2.Reader {
	return &lineReader{bufio.NewReaderSize(r, 64<<10)}
}

// Writer writes lines.
func (lineFramer) Writer(w io.Writer) xjsonrpc2.Writer { return &lineWriter{w} }

// Read decodes a line.
func (r *lineReader) Read(context.Context) (xjsonrpc2.Message, int64, error) {
	text, err := r.in.ReadBytes('\n') // messages keep parts of it
	if err != nil {
		return nil, 0, err
	}
	m, err := xjsonrpc2.DecodeMessage(text)
	return m, int64(len(text)), err
}

// Write encodes a line.
func (w *lineWriter) Write(_ context.Context, m xjsonrpc2.Message) (int64, error) {
	text, err := xjsonrpc2.EncodeMessage(m)
	if err != nil {
		return 0, err
	}
	n, err := w.out.Write(append(text, '\n'))
	return int64(n), err
}
