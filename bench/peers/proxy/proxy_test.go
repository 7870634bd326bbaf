package proxy_test

import (
	"context"
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/peers/proxy"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/echo"
)

// Each proxy answers the same call as the server behind it does.
func TestServe(t *testing.T) {
	for _, name := range []string{proxy.GoSDK, proxy.MCPGo} {
		t.Run(name, func(t *testing.T) {
			near, far := echo.Pipe()
			go func() { _ = echo.Serve(far, echo.Options{MCP: true}) }()
			l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
			require.NoError(t, err)
			ctx, stop := context.WithCancel(t.Context())
			over := make(chan struct{})
			go func() {
				defer close(over)
				_ = proxy.Serve(ctx, name, l, near)
			}()
			c, err := conn.Dial(t.Context(), "unix", l.Addr().String(), conn.Options{})
			require.NoError(t, err)
			_, err = c.Call(t.Context(), "initialize", []byte(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`), conn.CallOptions{})
			require.NoError(t, err)
			require.NoError(t, c.Notify(t.Context(), "notifications/initialized", nil))
			got, err := c.Call(t.Context(), "tools/call", []byte(`{"name":"echo","arguments":{"message":"hello"}}`), conn.CallOptions{})
			require.NoError(t, err)
			require.Contains(t, string(got), `hello`)
			require.NoError(t, c.Close())
			stop()
			require.NoError(t, l.Close())
			<-over
			_ = near.Close()
		})
	}
}

func TestServeUnknown(t *testing.T) {
	require.ErrorIs(t, proxy.Serve(t.Context(), "x", nil, nil), proxy.ErrUnknown)
}
