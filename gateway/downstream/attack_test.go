package downstream_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/auth"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/serve"
)

// town is a gateway with two clients who can prove who they are, before one server that
// both share.
type town struct {
	*web
	alice, mallory []string // their headers
	aliceToken     string
}

func newTown(t *testing.T, u gateway.Upstream) *town {
	t.Helper()
	a, hashA := auth.NewToken()
	m, hashM := auth.NewToken()
	tokens, err := auth.NewTokens([]auth.Token{{Name: "alice", Hash: hashA}, {Name: "mallory", Hash: hashM}})
	require.NoError(t, err)
	w := serveWeb(t, u, downstream.HTTPOptions{Verifier: tokens}, downstream.ServerOptions{})
	return &town{w, []string{"Authorization", "Bearer " + a}, []string{"Authorization", "Bearer " + m}, a}
}

func in(who []string, session string) []string {
	return append(append([]string(nil), who...), "Mcp-Session-Id", session)
}

// slow begins a call of the older era that the server has taken, and gives its number
// there.
func (w *web) slow(id string, headers []string) (answer <-chan *reply, number string) {
	w.t.Helper()
	answer = w.begin(http.MethodPost, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":"t"}}}`, headers...)
	number, _ = w.server.Way(0).NextRequest()
	return answer, number
}

// Whoever learns the id of a session cannot use it without being its client.
func TestAttackSessionOfAnother(t *testing.T) {
	w := newTown(t, gateway.Upstream{Isolation: gateway.Shared})
	session := w.session(w.alice...)
	answer, number := w.slow("1", in(w.alice, session))
	for name, who := range map[string][]string{"another": w.mallory, "nobody": nil, "the name": {"Authorization", "Bearer alice"}} {
		for _, attempt := range []struct{ method, body string }{
			{http.MethodPost, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"x"}}`},
			{http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`},
			{http.MethodPost, `{"jsonrpc":"2.0","id":1,"result":{}}`},
			{http.MethodPost, `[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]`},
			{http.MethodGet, ""},
			{http.MethodDelete, ""},
		} {
			r := w.do(attempt.method, attempt.body, in(who, session)...)
			want := http.StatusNotFound
			if name != "another" {
				want = http.StatusUnauthorized
			}
			require.Equal(t, want, r.StatusCode, "%s %s %s", name, attempt.method, attempt.body)
		}
		r := w.do(http.MethodGet, "", append(in(who, session), "Last-Event-Id", "1-0")...)
		require.NotEqual(t, http.StatusOK, r.StatusCode)
	}
	require.Empty(t, w.server.Way(0).Cancels())
	w.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + number + `,"result":{"mine":true}}`)
	require.Contains(t, (<-answer).all(), `"mine":true`)
}

// Sessions cannot be guessed, chosen, or brought along.
func TestAttackSessionIDs(t *testing.T) {
	w := newTown(t, gateway.Upstream{Isolation: gateway.Shared})
	seen := make(map[string]bool)
	for range 50 {
		id := w.session(w.alice...)
		require.GreaterOrEqual(t, len(id), 26, "128 bits at 5 a letter")
		require.False(t, seen[id])
		seen[id] = true
	}
	chosen := w.do(http.MethodPost, hello, in(w.mallory, "mallory-knows-this")...)
	require.Equal(t, http.StatusNotFound, chosen.StatusCode)
	for _, guess := range []string{"", " ", "*", "null", "../x", strings.Repeat("A", 26), "0"} {
		r := w.do(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, in(w.mallory, guess)...)
		require.Contains(t, []int{http.StatusBadRequest, http.StatusNotFound}, r.StatusCode, guess)
	}
}

// Nobody can cancel, answer or listen to what is another's by naming it as the other does,
// or as the server does.
func TestAttackOnCalls(t *testing.T) {
	w := newTown(t, gateway.Upstream{Isolation: gateway.Shared})
	way := func() interface{ Say(string) } { return w.server.Way(0) }
	alice, mallory := in(w.alice, w.session(w.alice...)), in(w.mallory, w.session(w.mallory...))
	answer, number := w.slow(`"k"`, alice)
	own, ownNumber := w.slow(`"k"`, mallory) // the same id, the same token
	listening := w.do(http.MethodGet, "", mallory...)
	require.Equal(t, http.StatusOK, listening.StatusCode)
	for _, name := range []string{number, `"` + number + `"`, number + ".0", `"K"`, `null`, `{}`, `["k"]`, `1e0`} {
		r := w.do(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+name+`}}`, mallory...)
		require.Equal(t, http.StatusAccepted, r.StatusCode, name)
		r = w.do(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+name+`,"progress":99}}`, mallory...)
		require.Equal(t, http.StatusAccepted, r.StatusCode, name)
		r = w.do(http.MethodPost, `{"jsonrpc":"2.0","id":1,"result":{"forged":`+name+`}}`, mallory...)
		require.Equal(t, http.StatusAccepted, r.StatusCode, name)
	}
	require.Empty(t, w.server.Way(0).Cancels())

	// What the server says of one call is heard by that one's client alone.
	way().Say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + number + `,"progress":1,"message":"for alice"}}`)
	way().Say(`{"jsonrpc":"2.0","id":` + ownNumber + `,"result":{"for":"mallory"}}`)
	got := (<-own).all()
	require.Contains(t, got, `"for":"mallory"`)
	require.NotContains(t, got, "alice")

	// A cancel by the shared name ends one's own call, which is over, and nothing else.
	require.Equal(t, http.StatusAccepted, w.do(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"k"}}`, mallory...).StatusCode)
	require.Empty(t, w.server.Way(0).Cancels())
	r := <-answer
	require.Contains(t, r.event(), "for alice")
	way().Say(`{"jsonrpc":"2.0","id":` + number + `,"result":{"for":"alice"}}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":"k","result":{"for":"alice"}}`, r.event())
	listening.drop()
	require.Empty(t, listening.event())
}

// A session that ends, by whoever may end it, ends nobody else's calls.
func TestAttackEndsOnlyOwn(t *testing.T) {
	w := newTown(t, gateway.Upstream{Isolation: gateway.Shared})
	alice, mallory := in(w.alice, w.session(w.alice...)), in(w.mallory, w.session(w.mallory...))
	answer, number := w.slow("1", alice)
	own, ownNumber := w.slow("1", mallory)
	require.Equal(t, http.StatusNoContent, w.do(http.MethodDelete, "", mallory...).StatusCode)
	require.Eventually(t, func() bool { return len(w.server.Way(0).Cancels()) == 1 }, waitFor, tick)
	require.Equal(t, ownNumber, itoa(w.server.Way(0).Cancels()[0].Call))
	require.Empty(t, (<-own).event())
	w.server.Way(0).Say(`{"jsonrpc":"2.0","id":` + number + `,"result":{}}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, lastEvent(<-answer))
}

func lastEvent(r *reply) string {
	if r.Header.Get("Content-Type") == "application/json" {
		return r.all()
	}
	var last string
	for e := r.event(); e != ""; e = r.event() {
		last = e
	}
	return last
}

// A page of another site reaches nothing, by whatever name it calls this machine.
func TestAttackFromPages(t *testing.T) {
	w := shared(t)
	port := w.address[strings.LastIndexByte(w.address, ':'):]
	for _, c := range []struct {
		headers []string
		status  int
	}{
		{[]string{"Host", "evil.test"}, http.StatusForbidden}, // its name was made to mean this machine
		{[]string{"Host", "evil.test" + port}, http.StatusForbidden},
		{[]string{"Host", "127.0.0.1.evil.test"}, http.StatusForbidden},
		{[]string{"Host", "localhost.evil.test" + port}, http.StatusForbidden},
		{[]string{"Origin", "https://evil.test"}, http.StatusForbidden},
		{[]string{"Origin", "http://localhost.evil.test"}, http.StatusForbidden},
		{[]string{"Origin", "null"}, http.StatusForbidden},
		{[]string{"Origin", "http://evil.test", "Host", "evil.test"}, http.StatusForbidden},
		{[]string{"Content-Type", "text/plain"}, http.StatusUnsupportedMediaType}, // a form may send that anywhere
		{[]string{"Origin", "http://localhost" + port}, http.StatusOK},
		{[]string{"Host", "localhost" + port}, http.StatusOK},
	} {
		r := w.do(http.MethodPost, hello, c.headers...)
		require.Equal(t, c.status, r.StatusCode, c.headers)
		if c.status != http.StatusOK {
			require.Empty(t, r.Header.Get("Access-Control-Allow-Origin"), c.headers)
		}
	}
	r := w.do(http.MethodOptions, "", "Origin", "https://evil.test", "Access-Control-Request-Method", "POST")
	require.Equal(t, http.StatusForbidden, r.StatusCode)
}

// Bodies that are too long, too deep, two in one, or say something twice are refused before
// anybody looks into them.
func TestAttackBodies(t *testing.T) {
	o := downstream.HTTPOptions{Limits: serve.Options{MaxFrame: 1 << 16, MaxDepth: 32}}
	w := serveWeb(t, gateway.Upstream{Isolation: gateway.Shared}, o, downstream.ServerOptions{})
	alice := []string{"Mcp-Session-Id", w.session()}
	for name, c := range map[string]struct {
		body   string
		status int
	}{
		"too long":          {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"pad":"` + strings.Repeat("x", 1<<16) + `"}}`, http.StatusRequestEntityTooLarge},
		"too deep":          {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, http.StatusBadRequest},
		"two":               {`{"jsonrpc":"2.0","id":1,"method":"a"}{"jsonrpc":"2.0","id":2,"method":"b"}`, http.StatusBadRequest},
		"two ids":           {`{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call"}`, http.StatusBadRequest},
		"two methods":       {`{"jsonrpc":"2.0","id":1,"method":"ping","\u006dethod":"tools/call"}`, http.StatusBadRequest},
		"two names":         {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","n\u0061me":"b"}}`, http.StatusBadRequest},
		"two tokens":        {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":1,"progressToken":2}}}`, http.StatusBadRequest},
		"two _meta":         {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{},"_meta":{"progressToken":2}}}`, http.StatusBadRequest},
		"no UTF-8":          {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\xff\"}", http.StatusBadRequest},
		"null id":           {`{"jsonrpc":"2.0","id":null,"method":"tools/call"}`, http.StatusBadRequest},
		"an object as id":   {`{"jsonrpc":"2.0","id":{},"method":"tools/call"}`, http.StatusBadRequest},
		"a fraction as id":  {`{"jsonrpc":"2.0","id":1.5,"method":"tools/call"}`, http.StatusBadRequest},
		"nothing":           {``, http.StatusBadRequest},
		"an object's token": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":{}}}}`, http.StatusOK},
	} {
		r := w.do(http.MethodPost, c.body, alice...)
		require.Equal(t, c.status, r.StatusCode, name)
		answer := r.all()
		require.Contains(t, answer, `"error"`, name)
		if strings.HasPrefix(name, "two ") {
			require.Contains(t, answer, "duplicate member", name)
		}
	}
	require.Zero(t, w.g.Stats().InFlight)
	require.Zero(t, w.g.Stats().Answered-1, "initialize alone was answered")
}

// A client that sends its header or its body a byte at a time is not waited for.
func TestAttackSlowly(t *testing.T) {
	o := downstream.HTTPOptions{Front: serve.HTTPOptions{ReadTimeout: 20 * time.Millisecond}}
	w := serveWeb(t, gateway.Upstream{Isolation: gateway.Shared}, o, downstream.ServerOptions{HeaderTimeout: 20 * time.Millisecond})
	for name, sent := range map[string]string{
		"header": "POST /mcp HTTP/1.1\r\nHost: " + w.address + "\r\nContent-",
		"body":   "POST /mcp HTTP/1.1\r\nHost: " + w.address + "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: 1000\r\n\r\n{",
	} {
		c := w.dialed()
		_, err := io.WriteString(c, sent)
		require.NoError(t, err)
		text, err := io.ReadAll(c) // until the gateway closes it
		require.NoError(t, err, name)
		require.NotContains(t, string(text), " 200 ", name)
	}
	c := w.dialed()
	_, err := io.WriteString(c, "GET /mcp HTTP/1.1\r\nHost: "+w.address+"\r\nX: "+strings.Repeat("x", 1<<20)+"\r\n\r\n")
	if err == nil {
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil {
			require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, r.StatusCode)
			require.NoError(t, r.Body.Close())
		}
	}
}

// A header that stands twice does not pass for the one that a proxy may have looked at.
func TestAttackTwoHeaders(t *testing.T) {
	w := shared(t)
	r, drop := w.request(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete",`+metaModern+`}}`, modern("tools/call", "delete")...)
	defer drop()
	r.Header["Mcp-Name"] = []string{"delete", "harmless"}
	response, err := w.client.Do(r)
	require.NoError(t, err)
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
	require.NoError(t, response.Body.Close())
	require.Zero(t, w.g.Stats().Requests)
}

// What a server says cannot end an event early and begin one of its own.
func TestAttackEventsByServer(t *testing.T) {
	w := shared(t)
	answer := w.begin(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":7,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, modern("tools/call", "x")...)
	number, _ := w.server.Way(0).NextRequest()
	w.server.Way(0).Say("{\"jsonrpc\":\"2.0\",\r\r\n\n\"method\":\"notifications/progress\",\n\ndata\":\"x\"}")
	w.server.Way(0).Say("{\"jsonrpc\":\"2.0\",\r\n\n\"method\":\"notifications/progress\",\"params\":{\"progressToken\":" + number + ",\"progress\":1,\n\n\"message\":\"a\\n\\ndata: {}\"}}")
	w.server.Way(0).Say("{\"jsonrpc\":\"2.0\",\"id\":" + number + ",\n\n\"result\":{}}")
	text := (<-answer).all()
	require.Equal(t, 2, strings.Count(text, "data: {"+`"jsonrpc"`), text)
	for _, block := range strings.Split(strings.TrimSuffix(text, "\n\n"), "\n\n") {
		require.Regexp(t, `^event: message\ndata: \{"jsonrpc".*\}$`, block)
	}
}

// What identifies a client stands in no log line, event or error.
func TestAttackLogs(t *testing.T) {
	var mu sync.Mutex
	var lines bytes.Buffer
	log := slog.New(slog.NewTextHandler(writer(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return lines.Write(p)
	}), &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: auth.RedactAttr}))
	token, hash := auth.NewToken()
	tokens, err := auth.NewTokens([]auth.Token{{Name: "alice", Hash: hash}})
	require.NoError(t, err)
	o := downstream.HTTPOptions{Verifier: tokens, Limits: serve.Options{
		Logger: log, Observer: func(e serve.Event) { log.Info("event", "e", fmt.Sprintf("%+v", e)) },
		OnStray: func(s serve.Stray) { log.Info("stray", "s", fmt.Sprintf("%+v", s)) },
	}}
	observed := gateway.Options{Upstreams: make([]gateway.Upstream, 1), Observer: func(e gateway.Event) { log.Info("event", "e", fmt.Sprintf("%+v", e)) }}
	w := serveWebOf(t, observed, o, downstream.ServerOptions{})
	who := []string{"Authorization", "Bearer " + token}
	session := w.session(who...)
	w.do(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call"`, in(who, session)...)
	w.do(http.MethodPost, `{}`, "Authorization", "Bearer "+token+"x")
	w.do(http.MethodDelete, "", in(who, session)...)
	mu.Lock()
	defer mu.Unlock()
	require.NotEmpty(t, lines.String())
	for _, secret := range []string{token, session, hash} {
		require.NotContains(t, lines.String(), secret)
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// A TLS client's plain neighbour cannot downgrade what is served.
func TestAttackOldTLS(t *testing.T) {
	a := fake.NewAuthority(t)
	a.Sign("server")
	keys, err := downstream.LoadTLS(files(a, downstream.NoCertificates))
	require.NoError(t, err)
	w := serveWeb(t, gateway.Upstream{Isolation: gateway.Shared}, downstream.HTTPOptions{}, downstream.ServerOptions{TLS: keys.Config()})
	_, err = (&tls.Dialer{Config: &tls.Config{RootCAs: a.Pool, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}}).DialContext(t.Context(), "tcp", w.address)
	require.Error(t, err)
}
