package creachadair_test

import (
	"context"
	"fmt"
	"net"
	"testing"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/creachadair"
	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/load"
	"github.com/correlator-go/correlator/codec"
)

// A string of 100 bytes as the one param and as the result, a message a line.
func BenchmarkCall(b *testing.B) {
	open := func(c client) (load.Client, error) {
		return load.Client{Close: c.Close, Call: func() error {
			var result []string
			if err := c.CallResult(context.Background(), "echo", []string{load.Text}, &result); err != nil || len(result) != 1 || result[0] != load.Text {
				return fmt.Errorf("%q, %w", result, err)
			}
			return nil
		}}, nil
	}
	load.Compare(b, load.Echo(codec.LineFramer{}),
		load.Library{Name: "jrpc2", Open: func(c net.Conn) (load.Client, error) { return open(jrpc2.NewClient(channel.Line(c, c), nil)) }},
		load.Library{Name: "creachadair", Open: func(c net.Conn) (load.Client, error) {
			return open(creachadair.NewClient(creachadair.Line(c, c), nil))
		}},
	)
}
