package gosdk_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/gosdk"
	"github.com/correlator-go/correlator/internal/callers"
)

// A client and a server of go-sdk over one unix socket, both over these transports
// and both over go-sdk's own: typed tools/call.
func BenchmarkCallTool(b *testing.B) {
	transports := map[string]func(net.Conn) mcp.Transport{
		"go-sdk":     func(c net.Conn) mcp.Transport { return &mcp.IOTransport{Reader: c, Writer: c} },
		"correlator": func(c net.Conn) mcp.Transport { return gosdk.Stream(c, gosdk.Options{}) },
	}
	for _, n := range []int{1, 64, 1024} {
		for _, name := range []string{"go-sdk", "correlator"} {
			b.Run(fmt.Sprintf("%d callers/%s", n, name), func(b *testing.B) {
				l, err := net.Listen("unix", filepath.Join(b.TempDir(), "s"))
				require.NoError(b, err)
				defer l.Close()
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					if c, err := l.Accept(); err == nil {
						_ = newServer(newBench()).Run(context.Background(), transports[name](c))
					}
				}()
				link, err := net.Dial("unix", l.Addr().String())
				require.NoError(b, err)
				s := connect(b, transports[name](link), "2025-11-25", nil)
				callers.Run(b, n, func() error {
					_, err := tool(context.Background(), s, "double", 4, nil)
					return err
				})
				_ = s.Close() // go-sdk's own transport says that it is closed
				<-ended
			})
		}
	}
}
