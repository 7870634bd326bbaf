package downstream_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/limit"
)

// Many clients each begin a large message and never end it: what they hold together is
// bounded, over sockets and over HTTP. Who would go beyond that is let go of, a client
// whose messages are whole is served, and all comes free again. Over HTTP the refusal is
// not kept back for the rest of the body, which never comes.
func TestPartialMessagesShareABudget(t *testing.T) {
	const budget, clients = 2 << 20, 8
	require.Zero(t, limit.Partial.Used())
	limit.Partial.Bound(budget)
	t.Cleanup(func() { limit.Partial.Bound(limit.DefaultPartialBytes) })
	for _, transport := range []string{"unix", "http"} {
		t.Run(transport, func(t *testing.T) {
			w := serveWeb(t, gateway.Upstream{Isolation: gateway.Shared}, downstream.HTTPOptions{}, downstream.ServerOptions{})
			begin := `{"jsonrpc":"2.0","id":1,"method":"m","params":{"pad":"` + strings.Repeat("x", 1<<20)
			dial := w.dialed
			if transport == "unix" {
				path := listen(t, func(ctx context.Context, l net.Listener) error {
					return downstream.Listen(ctx, w.g, l, downstream.Options{})
				})
				dial = func() net.Conn {
					c, err := new(net.Dialer).DialContext(t.Context(), "unix", path)
					require.NoError(t, err)
					return c
				}
			} else {
				begin = fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n%s",
					w.address, 4<<20, begin)
			}
			ended := make(chan int, clients)
			open := make([]net.Conn, clients)
			for i := range open {
				open[i] = dial()
				go func() { _, _ = io.WriteString(open[i], begin) }()
				go func() {
					_, _ = open[i].Read(make([]byte, 1)) // the end of it, or a refusal
					ended <- i
				}()
			}
			for range clients - budget>>20 {
				<-ended
			}
			require.LessOrEqual(t, limit.Partial.Used(), int64(budget))

			whole := w.do(http.MethodPost, `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
			require.Equal(t, http.StatusOK, whole.StatusCode, "a small message needs no budget, or little of it")

			for _, c := range open {
				_ = c.Close()
			}
			require.Eventually(t, func() bool { return limit.Partial.Used() == 0 }, waitFor, tick)
		})
	}
}
