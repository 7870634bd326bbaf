package sourcegraph_test

import (
	"context"
	"fmt"
	"net"
	"testing"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/load"
	"github.com/correlator-go/correlator/adapters/jsonrpc2/sourcegraph"
	"github.com/correlator-go/correlator/codec"
)

// A string of 100 bytes as the one param and as the result, with the headers of LSP.
func BenchmarkCall(b *testing.B) {
	open := func(c jsonrpc2.JSONRPC2) (load.Client, error) {
		return load.Client{Close: c.Close, Call: func() error {
			var result []string
			if err := c.Call(context.Background(), "echo", []string{load.Text}, &result); err != nil || len(result) != 1 || result[0] != load.Text {
				return fmt.Errorf("%q, %w", result, err)
			}
			return nil
		}}, nil
	}
	load.Compare(b, load.Echo(codec.HeaderFramer{}),
		load.Library{Name: "jsonrpc2", Open: func(c net.Conn) (load.Client, error) {
			return open(jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(c, jsonrpc2.VSCodeObjectCodec{}), nil))
		}},
		load.Library{Name: "sourcegraph", Open: func(c net.Conn) (load.Client, error) {
			return open(sourcegraph.NewConn(context.Background(), sourcegraph.NewBufferedStream(c, jsonrpc2.VSCodeObjectCodec{}), nil))
		}},
	)
}
