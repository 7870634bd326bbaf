package downstream_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/internal/fake"
)

const cancelOne = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`

// A request of the older era that its client cancels has no answer: its response ends,
// whether it has begun or not, and its id may come again.
func TestCancelEndsTheResponse(t *testing.T) {
	for _, progress := range []bool{false, true} {
		w := serveWeb(t, gateway.Upstream{Isolation: gateway.Shared}, downstream.HTTPOptions{}, downstream.ServerOptions{})
		session := []string{"Mcp-Session-Id", w.session()}
		for range 3 { // with the same id
			answer, number := w.slow("1", session)
			if progress {
				w.server.Way(0).Say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + number + `,"progress":1}}`)
				r := <-answer
				require.Contains(t, r.event(), `"progress":1`)
				require.Equal(t, http.StatusAccepted, w.do(http.MethodPost, cancelOne, session...).StatusCode)
				require.Empty(t, r.event())
				continue
			}
			require.Equal(t, http.StatusAccepted, w.do(http.MethodPost, cancelOne, session...).StatusCode)
			require.Empty(t, (<-answer).event())
		}
		require.EqualValues(t, 3, w.g.Stats().Cancelled)
	}
}

// In a batch the others are still answered, together.
func TestCancelInABatch(t *testing.T) {
	w := serveWeb(t, gateway.Upstream{Isolation: gateway.Shared}, downstream.HTTPOptions{}, downstream.ServerOptions{})
	w.server.Initialize = strings.Replace(fake.Hello, "2025-11-25", "2025-03-26", 1)
	older := w.do(http.MethodPost, strings.Replace(hello, "2025-11-25", "2025-03-26", 1))
	require.Contains(t, older.all(), "2025-03-26")
	session := []string{"Mcp-Session-Id", older.Header.Get("Mcp-Session-Id")}
	both := `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b"}}]`
	for range 2 {
		answer := w.begin(http.MethodPost, both, session...)
		w.server.Way(0).NextRequest()
		second, _ := w.server.Way(0).NextRequest()
		require.Equal(t, http.StatusAccepted, w.do(http.MethodPost, cancelOne, session...).StatusCode)
		w.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + second + `,"result":{"of":"b"}}`)
		require.Contains(t, (<-answer).all(), `[{"jsonrpc":"2.0","id":2,"result":{"of":"b"}}]`)
	}
	// All of it cancelled: nothing is left to wait for.
	answer := w.begin(http.MethodPost, both, session...)
	w.server.Way(0).NextRequest()
	w.server.Way(0).NextRequest()
	require.Equal(t, http.StatusAccepted, w.do(http.MethodPost, cancelOne, session...).StatusCode)
	require.Equal(t, http.StatusAccepted, w.do(http.MethodPost, strings.Replace(cancelOne, ":1}", ":2}", 1), session...).StatusCode)
	require.NotContains(t, (<-answer).all(), "jsonrpc")
}
