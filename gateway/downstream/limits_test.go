package downstream_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/auth"
	"github.com/correlator-go/correlator/gateway/downstream"
)

// A client that begins another session, or leaves sessions alone, has no more calls a
// second for that; one with another name has its own.
func TestRateOverHTTPIsTheClients(t *testing.T) {
	tokens, err := auth.NewTokens([]auth.Token{{Name: "a", Hash: auth.HashToken("a")}, {Name: "b", Hash: auth.HashToken("b")}})
	require.NoError(t, err)
	w := serveWebOf(t, gateway.Options{Upstreams: []gateway.Upstream{{Isolation: gateway.Shared}}, Rate: 1e-6, Burst: 4},
		downstream.HTTPOptions{Verifier: tokens}, downstream.ServerOptions{})
	as := func(who string, more ...string) []string {
		return append([]string{"Authorization", "Bearer " + who}, more...)
	}
	const listing = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	first := w.session(as("a")...) // the handshake is a call
	answer := w.begin(http.MethodPost, listing, as("a", "Mcp-Session-Id", first)...)
	number, _ := w.server.Way(0).NextRequest()
	w.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + number + `,"result":{}}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, (<-answer).all())
	second, third := w.session(as("a")...), w.session(as("a")...)
	for _, session := range []string{first, second, third} {
		require.Contains(t, w.do(http.MethodPost, listing, as("a", "Mcp-Session-Id", session)...).all(), `-32004`)
	}
	alone := w.do(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+metaModern+`}}`, as("a", modern("tools/list", "")...)...)
	require.Contains(t, alone.all(), `too many calls a second`)
	w.session(as("b")...)
}
