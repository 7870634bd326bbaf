package downstream_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/upstream"
	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/invariants"
)

// listen opens a unix socket, served until the test ends.
func listen(t testing.TB, serve func(ctx context.Context, l net.Listener) error) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := new(net.ListenConfig).Listen(context.Background(), "unix", path)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = serve(ctx, l)
	}()
	t.Cleanup(func() {
		stop()
		<-over
	})
	return path
}

// echoServer answers each request with its own params.
func echoServer(ctx context.Context, l net.Listener) error {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	var all sync.WaitGroup
	defer all.Wait()
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		all.Go(func() { _ = echo.Serve(c, echo.Options{}) })
	}
}

// gatewayBefore serves a gateway whose one upstream listens at a unix socket.
func gatewayBefore(t testing.TB, server string, u gateway.Upstream) (path string, g *gateway.Gateway) {
	t.Helper()
	u.Name, u.Opener, u.Isolation = "echo", upstream.Dial("unix", server, conn.Options{}), gateway.Shared
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{u}})
	require.NoError(t, err)
	path = listen(t, func(ctx context.Context, l net.Listener) error {
		defer func() { _ = g.Close() }()
		return downstream.Listen(ctx, g, l, downstream.Options{})
	})
	return path, g
}

// Many clients at once, all with the same ids: each gets its own answers.
func TestManyClientsOverSockets(t *testing.T) {
	path, g := gatewayBefore(t, listen(t, echoServer), gateway.Upstream{Plain: true})
	const clients, calls = 20, 200
	var all sync.WaitGroup
	for n := range clients {
		c, err := conn.Dial(context.Background(), "unix", path, conn.Options{})
		require.NoError(t, err)
		defer func() { _ = c.Close() }()
		all.Go(func() {
			var answered sync.WaitGroup
			for k := range calls {
				answered.Add(1)
				params := fmt.Sprintf(`{"client":%d,"call":%d,"pad":"%s"}`, n, k, strings.Repeat("x", k))
				_, err := c.Start(context.Background(), "echo", []byte(params), conn.CallOptions{}, func(o conn.Outcome) {
					defer answered.Done()
					if o.Err != nil || string(o.Value) != params {
						t.Errorf("client %d call %d: %.60s, %v", n, k, o.Value, o.Err)
					}
				})
				if err != nil {
					t.Error(err)
					answered.Done()
				}
			}
			answered.Wait()
		})
	}
	all.Wait()
	s := g.Stats()
	require.EqualValues(t, clients*calls, s.Requests)
	require.EqualValues(t, clients*calls, s.Answered)
	require.Zero(t, s.InFlight)
	require.Empty(t, s.Dropped)
}

// A call through the gateway costs it two allocations at most.
func TestCallAllocates(t *testing.T) {
	if invariants.Race || invariants.Enabled {
		t.Skip("counts differ under the race detector and with invariants")
	}
	path, _ := gatewayBefore(t, listen(t, echoServer), gateway.Upstream{Plain: true})
	c, err := conn.Dial(context.Background(), "unix", path, conn.Options{})
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	params := []byte(`{"name":"x","arguments":{"a":1}}`)
	const calls = 256
	requests := make([]conn.Request, calls)
	var answered sync.WaitGroup
	for i := range requests {
		requests[i] = conn.Request{Method: "tools/call", Params: params, Notify: func(conn.Outcome) { answered.Done() }}
	}
	round := func() {
		answered.Add(calls)
		if _, err := c.Submit(context.Background(), requests); err != nil {
			t.Error(err)
		}
		answered.Wait()
	}
	round()
	require.LessOrEqual(t, testing.AllocsPerRun(50, round)/calls, 1.25, "the call itself")
}

func BenchmarkCall(b *testing.B) {
	server := listen(b, echoServer)
	through, _ := gatewayBefore(b, server, gateway.Upstream{Plain: true})
	for _, way := range []struct{ name, path string }{{"direct", server}, {"gateway", through}} {
		b.Run(way.name, func(b *testing.B) {
			c, err := conn.Dial(context.Background(), "unix", way.path, conn.Options{})
			require.NoError(b, err)
			defer func() { _ = c.Close() }()
			params := []byte(`{"name":"x","arguments":{"a":"` + strings.Repeat("x", 70) + `"}}`)
			var answered sync.WaitGroup
			window := make(chan struct{}, 512)
			done := func(conn.Outcome) {
				<-window
				answered.Done()
			}
			b.ReportAllocs()
			b.ResetTimer()
			answered.Add(b.N)
			for range b.N {
				window <- struct{}{}
				if _, err := c.Start(context.Background(), "tools/call", params, conn.CallOptions{}, done); err != nil {
					b.Fatal(err)
				}
			}
			answered.Wait()
		})
	}
}
