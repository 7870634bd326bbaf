package netrpc_test

import (
	"fmt"
	"net"
	"net/rpc"
	"net/rpc/jsonrpc"
	"testing"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/load"
	"github.com/correlator-go/correlator/adapters/jsonrpc2/netrpc"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// A string of 100 bytes as argument and reply.
func BenchmarkCall(b *testing.B) {
	open := func(c *rpc.Client) load.Client {
		return load.Client{Close: c.Close, Call: func() error {
			var reply []string // the echo answers with the params
			if err := c.Call("echo", load.Text, &reply); err != nil || len(reply) != 1 || reply[0] != load.Text {
				return fmt.Errorf("%q, %w", reply, err)
			}
			return nil
		}}
	}
	load.Compare(b, load.Echo1,
		load.Library{Name: "jsonrpc", Open: func(c net.Conn) (load.Client, error) { return open(jsonrpc.NewClient(c)), nil }},
		load.Library{Name: "netrpc", Open: func(c net.Conn) (load.Client, error) { return open(netrpc.NewClient(c)), nil }},
		load.Library{Name: "netrpc lines", Open: func(c net.Conn) (load.Client, error) {
			codec, err := netrpc.New(c, netrpc.Options{Conn: conn.Options{Framer: codec.LineFramer{}}})
			if err != nil {
				return load.Client{}, err
			}
			return open(rpc.NewClientWithCodec(codec)), nil
		}},
	)
}
