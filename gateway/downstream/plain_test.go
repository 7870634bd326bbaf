package downstream_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/auth"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/serve"
)

func servePlain(t *testing.T, o downstream.HTTPOptions) *web {
	t.Helper()
	o.Plain = true
	return serveWeb(t, gateway.Upstream{Plain: true, Isolation: gateway.Shared}, o, downstream.ServerOptions{})
}

// A request of plain JSON-RPC over HTTP is answered by its response, under its id as it
// was written; two with one id do not meet.
func TestPlainOverHTTP(t *testing.T) {
	w := servePlain(t, downstream.HTTPOptions{})
	for _, id := range []string{`1`, `1.0`, `1.5`, `"a"`, `null`} {
		first := w.begin(http.MethodPost, `{"jsonrpc":"2.0","id":`+id+`,"method":"m","params":[1.0]}`)
		a, frame := w.server.Way(0).NextRequest()
		require.Equal(t, `{"jsonrpc":"2.0","id":`+a+`,"method":"m","params":[1.0]}`, frame)
		second := w.begin(http.MethodPost, `{"jsonrpc":"2.0","id":`+id+`,"method":"m"}`)
		b, _ := w.server.Way(0).NextRequest()
		w.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + b + `,"error":{"code":7,"message":"no"}}`)
		w.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + a + `,"result":1.50}`)
		for answer, want := range map[*reply]string{
			<-first: `{"jsonrpc":"2.0","id":` + id + `,"result":1.50}`, <-second: `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":7,"message":"no"}}`,
		} {
			require.Equal(t, http.StatusOK, answer.StatusCode)
			require.Equal(t, "application/json", answer.Header.Get("Content-Type"))
			require.Equal(t, want, answer.all())
		}
	}
}

func TestPlainBatchOverHTTP(t *testing.T) {
	w := servePlain(t, downstream.HTTPOptions{})
	answer := w.begin(http.MethodPost, `[{"jsonrpc":"2.0","id":1.0,"method":"a"},{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":2,"method":"b"},5]`)
	way := w.server.Way(0)
	var numbers []string
	for range 3 {
		if number, frame := way.NextRequest(); number != "" {
			numbers = append(numbers, number)
		} else {
			require.Contains(t, frame, `"method":"n"`)
		}
	}
	way.Say(`{"jsonrpc":"2.0","id":` + numbers[1] + `,"result":2}`)
	way.Say(`{"jsonrpc":"2.0","id":` + numbers[0] + `,"result":1}`)
	text := (<-answer).all()
	require.Contains(t, text, `{"jsonrpc":"2.0","id":2,"result":2},{"jsonrpc":"2.0","id":1.0,"result":1}`)
	require.Contains(t, text, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`)
	nothing := w.do(http.MethodPost, `[{"jsonrpc":"2.0","method":"n"}]`)
	require.Equal(t, http.StatusNoContent, nothing.StatusCode)
	taken := w.do(http.MethodPost, `[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]`)
	require.Equal(t, http.StatusNoContent, taken.StatusCode, "nobody waits for what it took back")
}

// What is no message, and who may not come in, is told so by status and by an error.
func TestPlainRefusalsOverHTTP(t *testing.T) {
	tokens, err := auth.NewTokens([]auth.Token{{Name: "a", Hash: auth.HashToken("a")}})
	require.NoError(t, err)
	w := servePlain(t, downstream.HTTPOptions{Verifier: tokens, Limits: limitsOf(200)})
	in := []string{"Authorization", "Bearer a"}
	for _, c := range []struct {
		method, body string
		headers      []string
		status       int
		want         string
	}{
		{http.MethodPost, `{}`, nil, http.StatusUnauthorized, ``},
		{http.MethodPost, `{}`, append(in, "Origin", "https://elsewhere"), http.StatusForbidden, ``},
		{http.MethodGet, ``, in, http.StatusMethodNotAllowed, `only POST`},
		{http.MethodPost, `{}`, append(in, "Content-Type", "text/plain"), http.StatusUnsupportedMediaType, `application/json`},
		{http.MethodPost, strings.Repeat(" ", 201), in, http.StatusRequestEntityTooLarge, `-32600`},
		{http.MethodPost, `{"jsonrpc":"2.0","id":1`, in, http.StatusBadRequest, `-32700`},
		{http.MethodPost, `{"jsonrpc":"2.0","id":true,"method":"m"}`, in, http.StatusBadRequest, `"id":null,"error":{"code":-32600`},
		{http.MethodPost, `{"jsonrpc":"2.0","id":7.5}`, in, http.StatusBadRequest, `-32600`},
		{http.MethodPost, `[]`, in, http.StatusOK, `"id":null,"error":{"code":-32600`},
		{http.MethodPost, `{"jsonrpc":"2.0","id":1,"result":2}`, in, http.StatusNoContent, ``},
		{http.MethodPost, `{"jsonrpc":"2.0","method":"n"}`, in, http.StatusNoContent, ``},
	} {
		r := w.do(c.method, c.body, c.headers...)
		require.Equal(t, c.status, r.StatusCode, c.body)
		require.Contains(t, r.all(), c.want)
	}
}

// A client that hangs up has its request cancelled, and one that is served when the end
// comes is told so.
func TestPlainClientGoes(t *testing.T) {
	w := servePlain(t, downstream.HTTPOptions{})
	r, drop := w.request(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"m"}`)
	over := make(chan error, 1)
	go func() {
		_, err := w.client.Do(r) //nolint:bodyclose // there is none
		over <- err
	}()
	number, _ := w.server.Way(0).NextRequest()
	drop()
	require.Error(t, <-over)
	require.Eventually(t, func() bool { return len(w.server.Way(0).Cancels()) == 1 }, waitFor, tick)
	require.Equal(t, number, itoa(w.server.Way(0).Cancels()[0].Call))
	late := w.begin(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"m"}`)
	_, _ = w.server.Way(0).NextRequest()
	go func() { _ = w.g.Close() }()
	answer := <-late
	require.Contains(t, answer.all(), `shutting down`)
}

func limitsOf(frame int) (o serve.Options) {
	o.MaxFrame = frame
	return o
}
