package conn_test

import (
	"context"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
)

// echoing answers every request with its params.
var echoing = conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) {
	if !r.IsNotification() {
		_ = r.Reply(r.Params())
	}
})

// serveOn serves every connection to l until the test is over.
func serveOn(t *testing.T, l net.Listener) {
	t.Helper()
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			link, err := l.Accept()
			if err != nil {
				return
			}
			c, err := conn.New(link, conn.Options{Handler: echoing})
			if err != nil {
				panic(err)
			}
			serving.Go(func() { <-c.Done() })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		serving.Wait()
	})
}

func TestDial(t *testing.T) {
	for network, address := range map[string]string{
		"tcp":  "127.0.0.1:0",
		"unix": filepath.Join(t.TempDir(), "s"),
	} {
		t.Run(network, func(t *testing.T) {
			nothingLeft(t)
			l, err := net.Listen(network, address)
			require.NoError(t, err)
			serveOn(t, l)
			c, err := conn.Dial(t.Context(), network, l.Addr().String(), conn.Options{})
			require.NoError(t, err)
			got, err := c.Call(t.Context(), "echo", []byte(`{"a":1}`), conn.CallOptions{})
			require.NoError(t, err)
			require.Equal(t, `{"a":1}`, string(got))
			require.NoError(t, c.Close())
		})
	}
}

func TestDialRefuses(t *testing.T) {
	nothingLeft(t)
	_, err := conn.Dial(t.Context(), "udp", "127.0.0.1:1", conn.Options{})
	var unknown net.UnknownNetworkError
	require.ErrorAs(t, err, &unknown)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = conn.Dial(ctx, "tcp", "127.0.0.1:1", conn.Options{})
	require.ErrorIs(t, err, context.Canceled)

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	_, err = conn.Dial(t.Context(), "tcp", l.Addr().String(), conn.Options{MaxPending: 1 << 30})
	var option *conn.OptionError
	require.ErrorAs(t, err, &option)
}
