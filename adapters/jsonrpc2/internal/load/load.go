// Package load drives clients for the benchmarks of this module.
package load

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/callers"
	"github.com/correlator-go/correlator/internal/echo"
)

// Text is what each call carries, 100 bytes.
var Text = strings.Repeat("x", 100)

// Client makes one call and checks what came.
type Client struct {
	Call  func() error
	Close func() error
}

// Library opens a client of one library.
type Library struct {
	Name string
	Open func(net.Conn) (Client, error)
}

// Echo is the server that answers every request of JSON-RPC 2.0 with its params.
func Echo(f codec.Framer) func(net.Conn) {
	return func(c net.Conn) { _ = echo.Serve(c, echo.Options{Framer: f, Profile: codec.JSONRPC}) }
}

// Echo1 is the same for requests of net/rpc/jsonrpc as well, on lines, whose params
// are an array without arrays in it.
func Echo1(c net.Conn) {
	defer c.Close()
	in, out := bufio.NewReaderSize(c, 64<<10), bufio.NewWriterSize(c, 64<<10)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return
		}
		_, id, _ := bytes.Cut(line, []byte(`"id":`))
		_, params, _ := bytes.Cut(line, []byte(`"params":`))
		if end := bytes.IndexAny(id, ",}"); end > 0 {
			for _, part := range [][]byte{
				[]byte(`{"id":`), id[:end], []byte(`,"result":`), params[:bytes.IndexByte(params, ']')+1], []byte(`,"error":null}` + "\n"),
			} {
				_, _ = out.Write(part) // Flush says what went wrong
			}
		}
		if in.Buffered() == 0 {
			if out.Flush() != nil {
				return
			}
		}
	}
}

// Compare measures each library with 1, 64 and 1,024 callers, over a unix socket to
// a server in this process, whose processor time is in what is reported.
func Compare(b *testing.B, serve func(net.Conn), libraries ...Library) {
	for _, n := range []int{1, 64, 1024} {
		for _, lib := range libraries {
			b.Run(fmt.Sprintf("%d callers/%s", n, lib.Name), func(b *testing.B) {
				l, err := net.Listen("unix", filepath.Join(b.TempDir(), "s"))
				require.NoError(b, err)
				defer l.Close()
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					if c, err := l.Accept(); err == nil {
						serve(c)
					}
				}()
				link, err := net.Dial("unix", l.Addr().String())
				require.NoError(b, err)
				c, err := lib.Open(link)
				require.NoError(b, err)
				callers.Run(b, n, c.Call)
				_ = c.Close() // some libraries say that they are closed
				<-ended
			})
		}
	}
}
