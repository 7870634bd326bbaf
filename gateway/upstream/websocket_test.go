package upstream_test

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/conn/websocket"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/upstream"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// overSockets makes a gateway over a server of WebSockets, each served by f.
func overSockets(t *testing.T, u gateway.Upstream, o upstream.WebSocketOptions, f func(r *http.Request, s *websocket.Stream)) *gateway.Gateway {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := websocket.Accept(w, r, websocket.AcceptOptions{})
		if err == nil {
			f(r, s)
		}
	}))
	t.Cleanup(web.Close)
	opener, err := upstream.WebSocket("ws"+strings.TrimPrefix(web.URL, "http")+"/rpc?key=secret", o)
	require.NoError(t, err)
	require.Equal(t, "ws"+strings.TrimPrefix(web.URL, "http")+"/rpc", opener.String())
	return over(t, opener, u, gateway.Options{})
}

// Headers and credentials are the upstream's own, and bytes pass as they are.
func TestWebSocket(t *testing.T) {
	headers := make(chan http.Header, 1)
	g := overSockets(t, gateway.Upstream{Isolation: gateway.Shared, Plain: true}, upstream.WebSocketOptions{
		Dial:  websocket.DialOptions{Header: http.Header{"X-Api-Key": {"k"}}},
		Token: func(context.Context) (string, error) { return "own", nil },
	}, func(r *http.Request, s *websocket.Stream) {
		headers <- r.Header.Clone()
		c, err := s.Conn(conn.Options{Profile: codec.JSONRPC, Handler: conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) {
			_ = r.Reply(r.Params())
		})})
		require.NoError(t, err)
		<-c.Done()
	})
	c := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":"\u0061","method":"echo","params":{"x" : 1.50e0}}`))
	require.Equal(t, `{"jsonrpc":"2.0","id":"\u0061","result":{"x" : 1.50e0}}`, c.Next())
	h := <-headers
	require.Equal(t, "Bearer own", h.Get("Authorization"))
	require.Equal(t, "k", h.Get("X-Api-Key"))
}

// One answer above the limit fails its own call and no other; the link stays up.
func TestL18OversizeOnSharedWebSocket(t *testing.T) {
	g := overSockets(t, gateway.Upstream{Isolation: gateway.Shared, Plain: true}, upstream.WebSocketOptions{
		Conn: conn.Options{MaxFrame: 1 << 20},
	}, func(_ *http.Request, s *websocket.Stream) {
		big := []byte(`"` + strings.Repeat("x", 2<<20) + `"`)
		c, err := s.Conn(conn.Options{Profile: codec.JSONRPC, Handler: conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) {
			if string(r.Params()) == "[3]" {
				_ = r.Reply(big)
				return
			}
			_ = r.Reply(r.Params())
		})})
		require.NoError(t, err)
		<-c.Done()
	})
	c := join(g)
	want := map[string]bool{}
	for id := range 10 {
		n := string(rune('0' + id))
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":`+n+`,"method":"m","params":[`+n+`]}`))
		want[`{"jsonrpc":"2.0","id":`+n+`,"result":[`+n+`]}`] = true
	}
	for range 10 {
		got := c.Next()
		if strings.Contains(got, `"id":3,`) {
			require.Contains(t, got, "too large")
			continue
		}
		require.True(t, want[got], got)
		delete(want, got)
	}
	require.Len(t, want, 1)
	require.EqualValues(t, 1, g.Stats().Opened)
	require.Zero(t, g.Stats().Dropped[gateway.LateAnswer])
}

// What is no WebSocket is told, without what is secret in the address.
func TestWebSocketRefused(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	opener, err := upstream.WebSocket("ws"+strings.TrimPrefix(web.URL, "http")+"/?key=secret", upstream.WebSocketOptions{})
	require.NoError(t, err)
	g := over(t, opener, gateway.Upstream{Isolation: gateway.Shared}, gateway.Options{})
	c := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
	got := c.Next()
	require.Contains(t, got, "404")
	require.NotContains(t, got, "secret")
	_, err = upstream.WebSocket("http://host/?key=secret", upstream.WebSocketOptions{})
	require.ErrorContains(t, err, "no ws or wss URL")
	require.NotContains(t, err.Error(), "secret")
}
