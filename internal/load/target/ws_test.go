package target_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/conn/websocket"
	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/target"
)

func TestParseWebSocket(t *testing.T) {
	for text, want := range map[string]target.Spec{
		"ws:127.0.0.1:80":              {Kind: "ws", Address: "ws://127.0.0.1:80"},
		"ws://[::1]:80/rpc":            {Kind: "ws", Address: "ws://[::1]:80/rpc"},
		"wss://example.org/mcp?a=b":    {Kind: "wss", Address: "wss://example.org/mcp?a=b"},
		"wss:user:word@example.org:1/": {Kind: "wss", Address: "wss://user:word@example.org:1/"},
	} {
		got, err := target.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"ws:", "ws://", "ws:///path", "wss:a b:1", "ws:host:port"} {
		_, err := target.Parse(text)
		require.Error(t, err, text)
	}
}

func TestOpenWebSocket(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := websocket.Accept(w, r, websocket.AcceptOptions{})
		if err == nil {
			_ = echo.Serve(s, echo.Options{Framer: websocket.Framer{}})
		}
	}))
	defer server.Close()
	x := open(t, "ws"+strings.TrimPrefix(server.URL, "http"), target.Options{Count: 2})
	for _, c := range x.Conns {
		got, err := c.Call(t.Context(), "m", []byte(`{"a":1}`), conn.CallOptions{})
		require.NoError(t, err)
		require.Equal(t, `{"a":1}`, string(got))
	}
	require.NoError(t, x.Close())
	server.Close()
	spec, err := target.Parse("ws" + strings.TrimPrefix(server.URL, "http"))
	require.NoError(t, err)
	_, err = target.Open(t.Context(), spec, target.Options{})
	require.Error(t, err)
}
