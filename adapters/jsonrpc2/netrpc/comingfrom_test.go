package netrpc_test

// The code of docs/coming-from/net-rpc.md.

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/rpc"
	"net/rpc/jsonrpc"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/script"
	"github.com/correlator-go/correlator/adapters/jsonrpc2/netrpc"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

func itsOwn(stream net.Conn) *rpc.Client {
	c := jsonrpc.NewClient(stream) // or jsonrpc.Dial("tcp", address)
	return c
}

func overOurs(stream net.Conn) *rpc.Client {
	c := netrpc.NewClient(stream) // or netrpc.Dial("tcp", address)
	return c
}

func withOptions(stream net.Conn) (*rpc.Client, error) {
	own, err := netrpc.New(stream, netrpc.Options{
		Named: true, // a JSON-RPC 2.0 server that takes params by name
		ErrorText: func(e *codec.Error) string {
			text, _ := json.Marshal(map[string]any{"code": e.Code, "message": e.Message, "data": json.RawMessage(e.Data)})
			return string(text)
		},
		Conn: conn.Options{
			Framer:  codec.LineFramer{}, // the server writes each answer on a line
			Timeout: 30 * time.Second,   // of every call
		},
	})
	if err != nil {
		return nil, err
	}
	c := rpc.NewClientWithCodec(own)
	return c, nil
}

// kind branches as programs do today.
func kind(err error) string {
	switch {
	case err == rpc.ErrShutdown, err == io.ErrUnexpectedEOF:
		return "gone"
	case errors.As(err, new(rpc.ServerError)):
		return "refused"
	case err != nil:
		return "not sent, or not read"
	}
	return "fine"
}

func TestComingFrom(t *testing.T) {
	for name, open := range map[string]func(net.Conn) *rpc.Client{"theirs": itsOwn, "ours": overOurs} {
		t.Run(name, func(t *testing.T) {
			address, _ := arith(t)
			link, err := net.Dial("unix", address)
			require.NoError(t, err)
			c := open(link)
			var product int
			require.Equal(t, "fine", kind(c.Call("Arith.Multiply", Args{6, 7}, &product)))
			require.Equal(t, "refused", kind(c.Call("Arith.Divide", Args{6, 0}, &product)))
			require.NoError(t, c.Close())
			require.Equal(t, "gone", kind(c.Call("Arith.Multiply", Args{6, 7}, &product)))
		})
	}
	stream, p := script.New(t)
	c, err := withOptions(stream)
	require.NoError(t, err)
	call := c.Go("m", map[string]int{"a": 1}, nil, nil)
	l := p.Read()
	require.JSONEq(t, `{"a":1}`, string(l.Params))
	p.Say(`{"jsonrpc":"2.0","id":%s,"error":{"code":7,"message":"no","data":[1]}}`, l.ID)
	require.EqualError(t, script.Get(t, call.Done).Error, `{"code":7,"data":[1],"message":"no"}`)
	require.NoError(t, c.Close())
}
