package mcpgo_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/mcpgo"
	"github.com/correlator-go/correlator/internal/callers"
	"github.com/correlator-go/correlator/internal/echo"
)

// The client of mcp-go over this transport and over its own, on one unix socket to
// an echo in this process: typed tools/call, text of 100 bytes and 4 KiB.
func BenchmarkCallTool(b *testing.B) {
	logger := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler)) // mcp-go's transport logs that it is closed
	defer slog.SetDefault(logger)
	transports := map[string]func(net.Conn) transport.Interface{
		"mcp-go": func(c net.Conn) transport.Interface {
			return transport.NewIO(c, c, io.NopCloser(strings.NewReader("")))
		},
		"correlator": func(c net.Conn) transport.Interface { return mcpgo.Stream(c, mcpgo.Options{}) },
	}
	for _, size := range []int{100, 4 << 10} {
		for _, n := range []int{1, 64, 1024, 10000} {
			for _, name := range []string{"mcp-go", "correlator"} {
				b.Run(fmt.Sprintf("%d bytes/%d callers/%s", size, n, name), func(b *testing.B) {
					l, err := net.Listen("unix", filepath.Join(b.TempDir(), "s"))
					require.NoError(b, err)
					defer l.Close()
					go func() {
						if c, err := l.Accept(); err == nil {
							_ = echo.Serve(c, echo.Options{MCP: true})
						}
					}()
					link, err := net.Dial("unix", l.Addr().String())
					require.NoError(b, err)
					c := client.NewClient(transports[name](link), client.WithProtocolVersion("2025-11-25"))
					defer c.Close()
					require.NoError(b, c.Start(context.Background()))
					_, err = c.Initialize(context.Background(), mcp.InitializeRequest{})
					require.NoError(b, err)
					request := mcp.CallToolRequest{}
					request.Params.Name = "echo"
					request.Params.Arguments = map[string]any{"message": strings.Repeat("x", size)}
					callers.Run(b, n, func() error {
						_, err := c.CallTool(context.Background(), request)
						return err
					})
				})
			}
		}
	}
}
