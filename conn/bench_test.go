package conn_test

import (
	"fmt"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/echo"
)

// socket is a connection over a unix socket to an echo server in this process.
// Claims about speed are measured against one in a process of its own: see
// bench.
func socket(b *testing.B, o conn.Options) *conn.Conn {
	b.Helper()
	address := filepath.Join(b.TempDir(), "s")
	l, err := net.Listen("unix", address)
	require.NoError(b, err)
	served := make(chan struct{})
	go func() {
		defer close(served)
		link, err := l.Accept()
		if err == nil {
			_ = echo.Serve(link, echo.Options{})
		}
	}()
	c, err := conn.Dial(background, "unix", address, o)
	require.NoError(b, err)
	b.Cleanup(func() {
		_ = c.Close()
		<-c.Done()
		_ = l.Close()
		<-served
	})
	return c
}

// sizes runs f for each number of calls in flight and size of params.
func sizes(b *testing.B, f func(b *testing.B, c *conn.Conn, inFlight int, params []byte, o conn.CallOptions)) {
	for _, size := range []int{100, 4096} {
		for _, inFlight := range []int{1, 64, 1024} {
			b.Run(fmt.Sprintf("bytes=%d/inflight=%d", size, inFlight), func(b *testing.B) {
				c := socket(b, conn.Options{})
				params := []byte(`"` + strings.Repeat("x", size-2) + `"`)
				b.ReportAllocs()
				b.ResetTimer()
				before := c.Stats().Writes
				f(b, c, inFlight, params, conn.CallOptions{Timeout: 30 * time.Second})
				b.StopTimer()
				b.ReportMetric(float64(c.Stats().Writes-before)/float64(b.N), "writes/op")
			})
		}
	}
}

func BenchmarkCall(b *testing.B) {
	sizes(b, func(b *testing.B, c *conn.Conn, inFlight int, params []byte, o conn.CallOptions) {
		b.SetParallelism(max(1, inFlight/runtime.GOMAXPROCS(0)))
		if inFlight == 1 {
			for b.Loop() {
				_, err := c.Call(background, "echo", params, o)
				require.NoError(b, err)
			}
			return
		}
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := c.Call(background, "echo", params, o); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

// BenchmarkStart keeps calls in flight from their own callbacks.
func BenchmarkStart(b *testing.B) {
	sizes(b, func(b *testing.B, c *conn.Conn, inFlight int, params []byte, o conn.CallOptions) {
		left, live := b.N, min(inFlight, b.N)
		var mu sync.Mutex // left is also counted down before the first callback
		done := make(chan struct{})
		var again func(conn.Outcome)
		start := func() {
			if _, err := c.Start(background, "echo", params, o, again); err != nil {
				panic(err)
			}
		}
		again = func(out conn.Outcome) {
			mu.Lock()
			left--
			next, over := left >= live, left == 0
			mu.Unlock()
			if over {
				close(done)
			}
			if next {
				start()
			}
		}
		for range live {
			start()
		}
		<-done
	})
}

// BenchmarkSubmit keeps windows of a quarter of the calls in flight: each is
// submitted again when its last answer came.
func BenchmarkSubmit(b *testing.B) {
	sizes(b, func(b *testing.B, c *conn.Conn, inFlight int, params []byte, o conn.CallOptions) {
		window := max(1, inFlight/4)
		windows := inFlight / window
		var wg sync.WaitGroup
		for w := range windows {
			rounds := b.N/(windows*window) + min(1, w) // of each window, about
			if rounds == 0 {
				rounds = 1
			}
			left := window
			batch := make([]conn.Request, window)
			wg.Add(1)
			notify := func(conn.Outcome) {
				if left--; left > 0 {
					return
				}
				left = window
				if rounds--; rounds == 0 {
					wg.Done()
					return
				}
				if n, err := c.Submit(background, batch); err != nil || n != window {
					panic(fmt.Sprint(n, err))
				}
			}
			for i := range batch {
				batch[i] = conn.Request{Method: "echo", Params: params, Options: o, Notify: notify}
			}
			_, err := c.Submit(background, batch)
			require.NoError(b, err)
		}
		wg.Wait()
	})
}

// BenchmarkInbound is the cost of one request served by a handler: on a
// goroutine, and on the reader.
func BenchmarkInbound(b *testing.B) {
	for _, inline := range []bool{false, true} {
		b.Run(fmt.Sprintf("inline=%v", inline), func(b *testing.B) {
			ours, theirs := echo.Pipe()
			server, err := conn.New(theirs, conn.Options{Inline: inline, Handler: echoes})
			require.NoError(b, err)
			client, err := conn.New(ours, conn.Options{})
			require.NoError(b, err)
			defer func() {
				_ = client.Close()
				<-client.Done()
				<-server.Done()
			}()
			b.ReportAllocs()
			b.SetParallelism(64)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := client.Call(background, "echo", []byte(`{"a":1}`), conn.CallOptions{}); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}
