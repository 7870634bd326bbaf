package downstream_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
)

func shared(t *testing.T) *web {
	t.Helper()
	return serveWeb(t, gateway.Upstream{Isolation: gateway.Shared}, downstream.HTTPOptions{}, downstream.ServerOptions{})
}

// A request of the modern era is answered on its own response, under its own id.
func TestModernCall(t *testing.T) {
	w := shared(t)
	answer := w.call(`"a"`, "add")
	id, frame := w.server.Way(0).NextRequest()
	require.Contains(t, frame, `"name":"add"`)
	w.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete","content": [
		{"type":"text","text":"3"}]}}`)
	r := <-answer
	require.Equal(t, http.StatusOK, r.StatusCode)
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))
	require.Equal(t, `{"jsonrpc":"2.0","id":"a","result":{"resultType":"complete","content":[{"type":"text","text":"3"}]}}`, r.all())
}

// Progress makes an event stream of the response.
func TestModernProgress(t *testing.T) {
	w := shared(t)
	answer := w.begin(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":"mine","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		modern("tools/call", "slow")...)
	id, _ := w.server.Way(0).NextRequest()
	w.server.Way(0).Say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + id + `,"progress":1}}`)
	r := <-answer
	require.Equal(t, "text/event-stream", r.Header.Get("Content-Type"))
	require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"mine","progress":1}}`, r.event())
	w.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete"}}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`, r.event())
	require.Empty(t, r.event())
}

// A client of the modern era that goes has cancelled its request, and nobody else's.
func TestX02DroppedRequest(t *testing.T) {
	w := shared(t)
	r, drop := w.request(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow",`+metaModern+`}}`, modern("tools/call", "slow")...)
	gone := make(chan error, 1)
	go func() {
		response, err := w.client.Do(r)
		if err == nil {
			_ = response.Body.Close()
		}
		gone <- err
	}()
	way := w.server.Way(0)
	first, _ := way.NextRequest()
	other := w.call("1", "other")
	second, _ := way.NextRequest()
	drop()
	require.Error(t, <-gone)
	require.Eventually(t, func() bool { return len(way.Cancels()) == 1 }, waitFor, tick)
	require.Equal(t, first, itoa(way.Cancels()[0].Call))
	way.Say(`{"jsonrpc":"2.0","id":` + second + `,"result":{"resultType":"complete"}}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`, (<-other).all())
}

// What the headers say is what the body says: a proxy before the gateway may have gone by
// the one, and servers go by the other.
func TestHeadersHaveToAgree(t *testing.T) {
	w := shared(t)
	r := w.do(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete",`+metaModern+`}}`, modern("tools/call", "harmless")...)
	require.Equal(t, http.StatusBadRequest, r.StatusCode)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"Header mismatch"}}`, r.all())
	require.Zero(t, w.g.Stats().Requests)
}

// Arguments that a tool wants in headers are compared as well, once a list has said so:
// what is missing, differs or cannot be decoded goes to no server.
func TestArgumentsInHeaders(t *testing.T) {
	w := shared(t)
	list := w.begin(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+metaModern+`}}`, modern("tools/list", "")...)
	id, _ := w.server.Way(0).NextRequest()
	w.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete","tools":[{"name":"deploy","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}]}}`)
	require.Contains(t, (<-list).all(), "deploy")
	request := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy","arguments":{"region":"eu"},` + metaModern + `}}`
	for name, headers := range map[string][]string{"missing": nil, "another": {"Mcp-Param-Region", "us"}, "rubbish": {"Mcp-Param-Region", "=?base64?%%?="}} {
		r := w.do(http.MethodPost, request, append(modern("tools/call", "deploy"), headers...)...)
		require.Equal(t, http.StatusBadRequest, r.StatusCode, name)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"Header mismatch"}}`, r.all(), name)
	}
	for _, second := range []string{`"region":"us"`, `"reg\u0069on":"eu"`} {
		twice := strings.Replace(request, `"region":"eu"`, second+`,"region":"eu"`, 1)
		r := w.do(http.MethodPost, twice, append(modern("tools/call", "deploy"), "Mcp-Param-Region", "eu")...)
		require.Equal(t, http.StatusBadRequest, r.StatusCode)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"invalid request: an argument that is repeated in a header stands twice"}}`, r.all())
	}
	require.EqualValues(t, 1, w.g.Stats().Requests)
	answer := w.begin(http.MethodPost, request, append(modern("tools/call", "deploy"), "Mcp-Param-Region", "eu")...)
	id, _ = w.server.Way(0).NextRequest()
	w.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"complete"}}`)
	require.Contains(t, (<-answer).all(), "complete")
}

// An error of the protocol has the status that MCP gives it.
func TestModernStatus(t *testing.T) {
	w := shared(t)
	answer := w.begin(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"no/such","params":{`+metaModern+`}}`, modern("no/such", "")...)
	id, _ := w.server.Way(0).NextRequest()
	w.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"Method not found"}}`)
	require.Equal(t, http.StatusNotFound, (<-answer).StatusCode)
}

// A session of the older era: its calls, its progress, what the server asks, its end.
func TestLegacySession(t *testing.T) {
	w := serveWeb(t, gateway.Upstream{}, downstream.HTTPOptions{}, downstream.ServerOptions{})
	id := w.session()
	in := []string{"Mcp-Session-Id", id, "Mcp-Protocol-Version", "2025-11-25"}
	way := w.server.Way(0)

	answer := w.begin(http.MethodPost, `{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":0}}}`, in...)
	number, _ := way.NextRequest()
	way.Say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + number + `,"progress":0.5}}`)
	r := <-answer
	require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":0,"progress":0.5}}`, r.event())

	listening := w.do(http.MethodGet, "", in...)
	require.Equal(t, http.StatusOK, listening.StatusCode)
	way.Say(`{"jsonrpc":"2.0","id":"ask","method":"roots/list"}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, r.event(), "the one call that it works on is what it asks about")
	require.Equal(t, http.StatusAccepted, w.do(http.MethodPost, `{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`, in...).StatusCode)
	require.Equal(t, `{"jsonrpc":"2.0","id":"ask","result":{"roots":[]}}`, way.Next())

	way.Say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, listening.event())
	way.Say(`{"jsonrpc":"2.0","id":` + number + `,"result":{}}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":0,"result":{}}`, r.event())

	require.Equal(t, http.StatusNoContent, w.do(http.MethodDelete, "", in...).StatusCode)
	require.Equal(t, http.StatusNotFound, w.do(http.MethodPost, `{"jsonrpc":"2.0","id":2,"method":"ping"}`, in...).StatusCode)
	require.Empty(t, listening.event())
}

// A client of the older era that loses its response comes back for the answer.
func TestLegacyResume(t *testing.T) {
	w := serveWeb(t, gateway.Upstream{}, downstream.HTTPOptions{}, downstream.ServerOptions{})
	in := []string{"Mcp-Session-Id", w.session()}
	way := w.server.Way(0)
	answer := w.begin(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":1}}}`, in...)
	number, _ := way.NextRequest()
	way.Say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + number + `,"progress":1}}`)
	r := <-answer
	var last string
	for last == "" {
		line, err := r.lines.ReadString('\n')
		require.NoError(t, err)
		if len(line) > 4 && line[:4] == "id: " {
			last = line[4 : len(line)-1]
		}
	}
	r.drop()
	way.Say(`{"jsonrpc":"2.0","id":` + number + `,"result":{}}`)
	again := w.do(http.MethodGet, "", append(in, "Last-Event-Id", last)...)
	require.Contains(t, again.event(), "notifications/progress")
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, again.event())
	require.Empty(t, way.Cancels(), "who goes has cancelled nothing")
}

// Where the server is slow to start, the response begins before initialize is answered.
func TestLegacySlowStart(t *testing.T) {
	o := downstream.HTTPOptions{}
	o.Front.KeepAlive = tick
	w := serveWeb(t, gateway.Upstream{}, o, downstream.ServerOptions{})
	w.server.Silent = true
	answer := w.begin(http.MethodPost, hello)
	r := <-answer // nobody has answered
	require.Equal(t, "text/event-stream", r.Header.Get("Content-Type"))
	require.NotEmpty(t, r.Header.Get("Mcp-Session-Id"))
	require.Equal(t, 1, w.endpoint.Sessions())
	require.Zero(t, w.g.Stats().Answered)
}

// Batches of the one revision that has them.
func TestLegacyBatch(t *testing.T) {
	w := serveWeb(t, gateway.Upstream{}, downstream.HTTPOptions{}, downstream.ServerOptions{})
	in := []string{"Mcp-Session-Id", w.session()}
	r := w.do(http.MethodPost, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, in...)
	require.Equal(t, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"invalid request: this revision has no batches"}}`, r.all())
}

// A call that waits while the endpoint is closed ends with a word about it.
func TestCloseEndsCalls(t *testing.T) {
	w := shared(t)
	answer := w.call("1", "slow")
	w.server.Way(0).Next()
	require.NoError(t, w.endpoint.Close())
	r := <-answer
	require.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
	require.Contains(t, r.all(), "shutting down")
	require.Equal(t, http.StatusServiceUnavailable, (<-w.call("2", "x")).StatusCode)
}

func TestBindKeepsToLoopback(t *testing.T) {
	for address, local := range map[string]bool{
		"127.0.0.1:0": true, "localhost:0": true, "[::1]:0": true, "127.9.9.9:0": true, "[::ffff:127.0.0.1]:0": true,
		":0": false, "0.0.0.0:0": false, "[::]:0": false, "192.0.2.1:80": false, "example.org:80": false, "": false,
	} {
		require.Equal(t, local, downstream.IsLoopback(address), address)
	}
	_, err := downstream.Bind(t.Context(), "0.0.0.0:0", false)
	require.ErrorIs(t, err, downstream.ErrNotLoopback)
	l, err := downstream.Bind(t.Context(), "0.0.0.0:0", true)
	require.NoError(t, err)
	require.NoError(t, l.Close())
}
