package gosdk_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/gosdk"
)

// What the README says of go-sdk's own transports, beside the same over these: when
// this fails, a newer go-sdk does better and the README must say so.
func TestContrast(t *testing.T) {
	transports := map[string]func(io.ReadWriteCloser) mcp.Transport{
		"go-sdk":     func(s io.ReadWriteCloser) mcp.Transport { return &mcp.IOTransport{Reader: s, Writer: s} },
		"correlator": func(s io.ReadWriteCloser) mcp.Transport { return gosdk.Stream(s, gosdk.Options{}) },
	}
	open := func(t *testing.T, name string) (p *peer, ended <-chan error) {
		t.Helper()
		ours, p := pair(t)
		done := make(chan error, 1)
		go func() { done <- newServer(newBench()).Run(context.Background(), transports[name](ours)) }()
		p.say(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		require.Equal(t, `"hello"`, string(p.read().ID))
		return p, done
	}
	for what, text := range map[string]string{
		"a banner":               "Server listening on port 3000",
		"a broken line":          `{"jsonrpc":"2.0",`,
		"a wrong version":        `{"jsonrpc":"1.0","method":"x"}`,
		"an error without an id": `{"jsonrpc":"2.0","error":{"code":-32700,"message":"what?"}}`,
		"a null id":              `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`,
		"a space at the end":     `{"jsonrpc":"2.0","method":"notifications/x"} `,
		"a byte order mark":      "\xef\xbb\xbf" + `{"jsonrpc":"2.0","method":"notifications/x"}`,
		"a batch":                `[{"jsonrpc":"2.0","method":"notifications/x"}]`,
	} {
		t.Run(what, func(t *testing.T) {
			p, ended := open(t, "go-sdk")
			// It may be gone before the whole line is written, and the next one is what
			// a decoder of values waits for behind a broken one.
			_, _ = fmt.Fprintf(p.link, "%s\n"+double+"\n", text, "1")
			<-ended

			p, ended = open(t, "correlator")
			p.say("%s\n"+double, text, "1")
			require.Equal(t, "1", string(p.read().ID))
			_ = p.link.Close()
			<-ended
		})
	}
	for id, answered := range map[string]string{"9007199254740993": "9007199254740992", "1.5": "1"} {
		p, ended := open(t, "go-sdk")
		p.say(double, id)
		require.Equal(t, answered, string(p.read().ID))
		_ = p.link.Close()
		<-ended
	}
}
