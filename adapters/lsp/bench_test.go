package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	lspdev "go.lsp.dev/jsonrpc2"
	xjsonrpc2 "golang.org/x/exp/jsonrpc2"

	"github.com/correlator-go/correlator/adapters/lsp"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/callers"
)

// serveHovers answers each request with the same hover until its input ends.
func serveHovers() {
	answer := []byte(`{"contents":{"kind":"markdown","value":"` + "```go\\nfunc F0(n int) int\\n```" + `"},"range":{"start":{"line":2,"character":5},"end":{"line":2,"character":7}}}`)
	c, err := conn.Stdio(conn.Options{Profile: codec.LSP, Framer: codec.HeaderFramer{}, Inline: true, Handler: conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) {
		if !r.IsNotification() {
			_ = r.TryReply(answer)
		}
	})})
	if err == nil {
		<-c.Done()
	}
}

// caller makes one call with a result.
type caller func(ctx context.Context, method string, params, result any) error

// The clients. Each call has a timeout: an argument with this package, a context with
// the others, which know nothing else.
const callTimeout = time.Minute

var clients = []struct {
	name string
	open func(b *testing.B, server conn.Command) (call caller, notify func(method string, params any) error)
}{
	{"correlator", func(b *testing.B, server conn.Command) (caller, func(string, any) error) {
		c, err := lsp.Spawn(b.Context(), server, lsp.Options{})
		require.NoError(b, err)
		b.Cleanup(func() { _ = c.Close() })
		call := func(ctx context.Context, method string, params, result any) error {
			if method == "initialize" {
				_, err := c.Initialize(ctx, params, lsp.CallOptions{Timeout: callTimeout})
				return err
			}
			h, err := lsp.Call[hover](ctx, c, method, params, lsp.CallOptions{Timeout: callTimeout})
			*result.(*hover) = h
			return err
		}
		return call, func(method string, params any) error {
			if method == "initialized" { // Initialize has said that
				return nil
			}
			return c.Notify(b.Context(), method, params)
		}
	}},
	{"go.lsp.dev", func(b *testing.B, server conn.Command) (caller, func(string, any) error) {
		c := lspdev.NewConn(lspdev.NewHeaderStream(stream(b, server)))
		c.Go(b.Context(), lspdev.MethodNotFoundHandler)
		b.Cleanup(func() { _ = c.Close() })
		call := func(ctx context.Context, method string, params, result any) error {
			ctx, cancel := context.WithTimeout(ctx, callTimeout)
			defer cancel()
			_, err := c.Call(ctx, method, params, result)
			return err
		}
		return call, func(method string, params any) error { return c.Notify(b.Context(), method, params) }
	}},
	{"x-exp", func(b *testing.B, server conn.Command) (caller, func(string, any) error) {
		c, err := xjsonrpc2.Dial(b.Context(), dialer{stream(b, server)}, xjsonrpc2.ConnectionOptions{})
		require.NoError(b, err)
		b.Cleanup(func() { _ = c.Close() })
		call := func(ctx context.Context, method string, params, result any) error {
			ctx, cancel := context.WithTimeout(ctx, callTimeout)
			defer cancel()
			return c.Call(ctx, method, params).Await(ctx, result)
		}
		return call, func(method string, params any) error { return c.Notify(b.Context(), method, params) }
	}},
}

func stream(b *testing.B, server conn.Command) io.ReadWriteCloser {
	s, err := conn.SpawnStream(b.Context(), server)
	require.NoError(b, err)
	return s
}

// dialer is a stream that is open already.
type dialer struct{ stream io.ReadWriteCloser }

func (d dialer) Dial(context.Context) (io.ReadWriteCloser, error) { return d.stream, nil }

// Hovers by 64 callers over Content-Length framing, with typed params and results: at a
// server that answers at once, where the client is what costs, and at gopls.
func BenchmarkHover(b *testing.B) {
	for _, at := range []string{"echo", "gopls"} {
		for _, client := range clients {
			b.Run(at+"/"+client.name, func(b *testing.B) {
				w := newWorkspace(b)
				var server conn.Command
				if at == "gopls" {
					server = w.command(gopls(b))
				} else {
					self, err := os.Executable()
					require.NoError(b, err)
					server = conn.Command{Path: self, Env: append(os.Environ(), serverVar+"=hovers")}
				}
				call, notify := client.open(b, server)
				var greeting json.RawMessage
				require.NoError(b, call(b.Context(), "initialize", map[string]any{"processId": nil, "rootUri": uri(w.folder), "capabilities": struct{}{}}, &greeting))
				require.NoError(b, notify("initialized", struct{}{}))
				require.NoError(b, notify("textDocument/didOpen", w.didOpen()))
				params := w.at(0)
				var h hover
				require.NoError(b, call(b.Context(), "textDocument/hover", params, &h)) // the workspace is loaded
				require.Contains(b, h.Contents.Value, "func F0(n int) int")

				callers.Run(b, 64, func() error {
					var h hover
					if err := call(b.Context(), "textDocument/hover", params, &h); err != nil {
						return err
					}
					if h.Contents.Value == "" {
						return errors.New("an empty hover")
					}
					return nil
				})
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "hovers/s")
			})
		}
	}
}
