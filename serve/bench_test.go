package serve_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/serve"
)

// dialServer connects to a server over a unix socket.
func dialServer(b *testing.B, o serve.Options) net.Conn {
	b.Helper()
	path := filepath.Join(b.TempDir(), "s")
	l, err := net.Listen("unix", path)
	require.NoError(b, err)
	ctx, stop := context.WithCancel(context.Background())
	s := newServer(b, newTools(), o)
	ended := make(chan error, 1)
	go func() { ended <- s.Listen(ctx, l) }()
	c, err := net.Dial("unix", path)
	require.NoError(b, err)
	b.Cleanup(func() {
		_ = c.Close()
		stop()
		<-ended
	})
	return c
}

// Calls of a small tool, 1,024 in flight on one unix socket.
func BenchmarkCalls(b *testing.B) {
	const window = 1024
	c := dialServer(b, serve.Options{})
	lines := bufio.NewReaderSize(c, 256<<10)
	places := make(chan struct{}, window)
	b.ReportAllocs()
	b.ResetTimer()
	go func() {
		w := bufio.NewWriterSize(c, 64<<10)
		defer w.Flush()
		for i := range b.N {
			select {
			case places <- struct{}{}:
			default:
				_ = w.Flush()
				places <- struct{}{}
			}
			_, _ = fmt.Fprintln(w, call(fmt.Sprint(i), "echo", `{"text":"0123456789"}`))
		}
	}()
	for range b.N {
		_, err := lines.ReadSlice('\n')
		require.NoError(b, err)
		<-places
	}
}

// Reports of one call, each acknowledged before the next.
func BenchmarkReports(b *testing.B) {
	c := dialServer(b, serve.Options{Timeout: -1})
	b.ReportAllocs()
	left := b.N
	lines := bufio.NewReaderSize(c, 256<<10)
	b.ResetTimer()
	for left > 0 {
		n := min(left, 1000)
		left -= n
		_, err := io.WriteString(c, call("1", "progress", fmt.Sprintf(`{"n":%d}`, n), `"progressToken":1`)+"\n")
		require.NoError(b, err)
		for range n + 1 {
			_, err := lines.ReadSlice('\n')
			require.NoError(b, err)
		}
	}
}
