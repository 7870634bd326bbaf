package downstream_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/conn/websocket"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/auth"
	"github.com/correlator-go/correlator/gateway/downstream"
)

// socket connects by WebSocket.
func (w *web) socket(o websocket.DialOptions) (*conn.Conn, error) {
	s, err := websocket.Dial(w.t.Context(), "ws://"+w.address+"/mcp", o)
	if err != nil {
		return nil, err
	}
	c, err := s.Conn(conn.Options{})
	if err == nil {
		w.t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

func TestWebSocket(t *testing.T) {
	w := shared(t)
	c, err := w.socket(websocket.DialOptions{Subprotocols: []string{downstream.Subprotocol}})
	require.NoError(t, err)
	over := make(chan conn.Outcome, 1)
	_, err = c.Start(t.Context(), "tools/call", []byte(`{"name":"x"}`), conn.CallOptions{}, func(o conn.Outcome) {
		o.Value = append([]byte(nil), o.Value...)
		over <- o
	})
	require.NoError(t, err)
	id, _ := w.server.Way(0).NextRequest()
	w.server.Way(0).Say("{\"jsonrpc\":\"2.0\",\n\"id\":" + id + `,"result":{"a":1}}`)
	o := <-over
	require.NoError(t, o.Err)
	require.Equal(t, `{"a":1}`, string(o.Value))
	require.NoError(t, w.endpoint.Close())
	<-c.Done()
}

// WebSockets go by the same checks as requests do.
func TestWebSocketIsChecked(t *testing.T) {
	token, hash := auth.NewToken()
	tokens, err := auth.NewTokens([]auth.Token{{Name: "alice", Hash: hash}})
	require.NoError(t, err)
	w := serveWeb(t, gateway.Upstream{}, downstream.HTTPOptions{Verifier: tokens, WebSocket: downstream.WebSocketOptions{MaxConnections: 1}}, downstream.ServerOptions{})
	bearer := "Bearer " + token
	for _, c := range []struct {
		name   string
		header http.Header
		status int
	}{
		{"no token", http.Header{}, http.StatusUnauthorized},
		{"a page elsewhere", http.Header{"Authorization": {bearer}, "Origin": {"https://evil.test"}}, http.StatusForbidden},
	} {
		_, err := w.socket(websocket.DialOptions{Header: c.header})
		var e *websocket.HandshakeError
		require.ErrorAs(t, err, &e, c.name)
		require.Equal(t, c.status, e.Status, c.name)
	}
	_, err = w.socket(websocket.DialOptions{Header: http.Header{"Authorization": {bearer}, "Origin": {"http://" + w.address}}})
	require.NoError(t, err)
	_, err = w.socket(websocket.DialOptions{Header: http.Header{"Authorization": {bearer}}})
	var e *websocket.HandshakeError
	require.ErrorAs(t, err, &e)
	require.Equal(t, http.StatusServiceUnavailable, e.Status, "there was room for one")
}

func TestWebSocketOff(t *testing.T) {
	w := serveWeb(t, gateway.Upstream{}, downstream.HTTPOptions{WebSocket: downstream.WebSocketOptions{Off: true}}, downstream.ServerOptions{})
	_, err := w.socket(websocket.DialOptions{})
	var e *websocket.HandshakeError
	require.ErrorAs(t, err, &e)
	require.Equal(t, http.StatusUpgradeRequired, e.Status)
}
