package downstream_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/internal/invariants"
	"github.com/correlator-go/correlator/serve"
)

// One session, two POST streams, the same id: the second is refused, the first untouched.
func TestG02SameSessionSameID(t *testing.T) {
	w := serveWeb(t, gateway.Upstream{}, downstream.HTTPOptions{}, downstream.ServerOptions{})
	in := []string{"Mcp-Session-Id", w.session()}
	first := w.begin(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"X"}}`, in...)
	number, frame := w.server.Way(0).NextRequest()
	require.Contains(t, frame, `"X"`)
	second := w.do(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Y"}}`, in...)
	require.Equal(t, http.StatusBadRequest, second.StatusCode)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"a request with this id is in flight"}}`, second.all())
	// "1" is another id.
	third := w.begin(http.MethodPost, `{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"Z"}}`, in...)
	other, frame := w.server.Way(0).NextRequest()
	require.Contains(t, frame, `"Z"`)
	w.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + other + `,"result":"Z"}`)
	w.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + number + `,"result":"X"}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":"X"}`, (<-first).all())
	require.Equal(t, `{"jsonrpc":"2.0","id":"1","result":"Z"}`, (<-third).all())
}

// In the modern era every exchange stands alone: two with one id are both served, each on
// its own response.
func TestG02ModernExchangesStandAlone(t *testing.T) {
	w := shared(t)
	first, way := w.call("1", "X"), w.server.Way(0)
	a, _ := way.NextRequest()
	second := w.call("1", "Y")
	b, _ := way.NextRequest()
	way.Say(`{"jsonrpc":"2.0","id":` + b + `,"result":"Y"}`)
	way.Say(`{"jsonrpc":"2.0","id":` + a + `,"result":"X"}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":"X"}`, (<-first).all())
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":"Y"}`, (<-second).all())
}

// A batch whose answers come in another order is one array, paired by id.
func TestG07BatchInAnotherOrder(t *testing.T) {
	w := serveWeb(t, gateway.Upstream{}, downstream.HTTPOptions{}, downstream.ServerOptions{})
	w.server.Initialize = strings.Replace(fake.Hello, "2025-11-25", "2025-03-26", 1)
	older := strings.Replace(hello, "2025-11-25", "2025-03-26", 1)
	r := w.do(http.MethodPost, older)
	require.Contains(t, r.all(), "2025-03-26")
	in := []string{"Mcp-Session-Id", r.Header.Get("Mcp-Session-Id")}
	call := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"x"}}`
	}

	answer := w.begin(http.MethodPost, "["+call("1")+","+call("2")+`,{"jsonrpc":"2.0","id":"no method"},`+call(`"3"`)+`,{"jsonrpc":"2.0","method":"notifications/initialized"}]`, in...)
	way := w.server.Way(0)
	var numbers []string
	for range 3 {
		number, _ := way.NextRequest()
		numbers = append(numbers, number)
	}
	for _, i := range []int{2, 0, 1} {
		way.Say(`{"jsonrpc":"2.0","id":` + numbers[i] + `,"result":` + itoa(int64(i)) + `}`)
	}
	require.JSONEq(t, `[{"jsonrpc":"2.0","id":"no method","error":{"code":-32600,"message":"invalid request"}},
		{"jsonrpc":"2.0","id":"3","result":2},{"jsonrpc":"2.0","id":1,"result":0},{"jsonrpc":"2.0","id":2,"result":1}]`, (<-answer).all())

	notes := w.do(http.MethodPost, `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`, in...)
	require.Equal(t, http.StatusAccepted, notes.StatusCode)
	twice := w.do(http.MethodPost, "["+call("7")+","+call("7")+"]", in...)
	require.Equal(t, http.StatusBadRequest, twice.StatusCode)
	none := w.do(http.MethodPost, "[]", in...)
	require.Contains(t, none.all(), `"code":-32600`)
	require.Zero(t, w.g.Stats().InFlight)
}

// A server that refuses initialize leaves its word, and no session.
func TestG11NoSessionWithoutHandshake(t *testing.T) {
	w := serveWeb(t, gateway.Upstream{}, downstream.HTTPOptions{}, downstream.ServerOptions{})
	w.server.Initialize = "-"
	r := w.do(http.MethodPost, hello)
	require.Contains(t, r.all(), `"error"`)
	require.Empty(t, r.Header.Get("Mcp-Session-Id"))
	require.Eventually(t, func() bool { return w.endpoint.Sessions() == 0 }, waitFor, tick)
}

// Sessions that are opened, used and never ended leave nothing behind, here or upstream.
func TestG11SessionsThatAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sessions := 10_000
		if invariants.Race {
			sessions = 500
		}
		server := &fake.Server{}
		g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{Name: "fake", Opener: server, MaxWays: sessions}}})
		require.NoError(t, err)
		e, err := downstream.NewEndpoint(g, downstream.HTTPOptions{Front: serve.HTTPOptions{SessionIdle: time.Minute}})
		require.NoError(t, err)
		post := func(body, session string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodPost, "http://localhost/mcp", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if session != "" {
				r.Header.Set("Mcp-Session-Id", session)
			}
			w := httptest.NewRecorder()
			e.ServeHTTP(w, r)
			return w
		}
		for range sessions {
			session := post(hello, "").Header().Get("Mcp-Session-Id")
			require.NotEmpty(t, session)
			require.Equal(t, http.StatusAccepted, post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, session).Code)
			require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, session).Body.String())
		}
		require.Equal(t, sessions, e.Sessions())
		require.Equal(t, sessions, g.Stats().Sessions)
		<-time.After(2 * time.Minute)
		synctest.Wait()
		require.Zero(t, e.Sessions())
		require.Zero(t, g.Stats().Sessions)
		require.Zero(t, g.Stats().InFlight)
		for _, n := range g.Ways() {
			require.Zero(t, n)
		}
		require.NoError(t, e.Close())
		require.NoError(t, g.Close())
	})
}
