package serve_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

const hello = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":%q,"capabilities":{"roots":{},"sampling":{}},"clientInfo":{"name":"t","version":"1"}}}`

// old is a call of the older era; without a token it asks for no progress.
func old(id, tool, arguments, token string) string {
	if token != "" {
		token = `,"_meta":{"progressToken":` + token + `}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, id, tool, arguments, token)
}

// begin opens a session and gives its headers.
func (w *web) begin(revision string) []string {
	w.t.Helper()
	r := w.do(http.MethodPost, fmt.Sprintf(hello, revision))
	require.Equal(w.t, http.StatusOK, r.StatusCode)
	id := r.Header.Get("Mcp-Session-Id")
	require.NotEmpty(w.t, id)
	require.Contains(w.t, r.all(), revision)
	headers := []string{"Mcp-Session-Id", id, "MCP-Protocol-Version", revision}
	r = w.do(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers...)
	require.Equal(w.t, http.StatusAccepted, r.StatusCode)
	_ = r.all()
	return headers
}

func TestSession(t *testing.T) {
	overBoth(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		h := w.begin("2025-11-25")
		r := w.do(http.MethodPost, old("1", "echo", `{"text":"old"}`, ""), h...)
		require.Equal(t, "application/json", r.kind())
		line := r.all()
		require.Equal(t, "old", parse(t, line).text(t))
		require.NotContains(t, line, "resultType")
		// The modern era goes on beside it, and does not look at the session.
		r = w.do(http.MethodPost, call("1", "echo", `{"text":"new"}`), modern("tools/call", "echo", "Mcp-Session-Id", "any")...)
		require.Equal(t, "new", parse(t, r.all()).text(t))

		r = w.do(http.MethodDelete, "", h...)
		require.Equal(t, http.StatusNoContent, r.StatusCode)
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			r = w.do(method, old("2", "echo", `{}`, ""), h...)
			require.Equal(t, http.StatusNotFound, r.StatusCode, method)
			_ = r.all()
		}
	})
}

func TestSessionRefusals(t *testing.T) {
	overBoth(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		h := w.begin("2025-06-18")
		for name, c := range map[string]struct {
			method, body string
			headers      []string
			status       int
		}{
			"no session":          {"POST", old("1", "echo", "{}", ""), nil, 400},
			"another session":     {"POST", old("1", "echo", "{}", ""), []string{"Mcp-Session-Id", "nope"}, 404},
			"bad version":         {"POST", old("1", "echo", "{}", ""), []string{"Mcp-Session-Id", h[1], "MCP-Protocol-Version", "1999-01-01"}, 400},
			"no version is fine":  {"POST", old("1", "echo", "{}", ""), h[:2], 200},
			"GET without Accept":  {"GET", "", []string{"Mcp-Session-Id", h[1], "Accept", "application/json"}, 406},
			"GET, no such event":  {"GET", "", []string{"Mcp-Session-Id", h[1], "Last-Event-ID", "77-1"}, 400},
			"GET, a bad event id": {"GET", "", []string{"Mcp-Session-Id", h[1], "Last-Event-ID", "x"}, 400},
			"batch in 2025-06-18": {"POST", "[" + old("1", "echo", "{}", "") + "]", h, 400},
			"PUT":                 {"PUT", "", h, 405},
		} {
			r := w.do(c.method, c.body, c.headers...)
			require.Equal(t, c.status, r.StatusCode, name)
			_ = r.all()
		}
		// R01: an initialize that is refused begins no session.
		r := w.do(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
		require.Equal(t, http.StatusBadRequest, r.StatusCode)
		require.Empty(t, r.Header.Get("Mcp-Session-Id"))
		require.Equal(t, -32602, parse(t, r.all()).Error.Code)
		synctest.Wait()
		require.Equal(t, 1, w.server.Stats().Open)
	})
}

func TestSessionBatch(t *testing.T) {
	overBoth(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		h := w.begin("2025-03-26")
		r := w.do(http.MethodPost, "["+old("1", "echo", `{"text":"a"}`, "")+","+cancelled("9")+","+old("2", "echo", `{"text":"b"}`, "")+"]", h...)
		require.Equal(t, http.StatusOK, r.StatusCode)
		body := r.all()
		require.True(t, strings.HasPrefix(body, "["), body)
		require.Contains(t, body, `"text":"a"`)
		require.Contains(t, body, `"text":"b"`)
		r = w.do(http.MethodPost, "["+cancelled("9")+"]", h...)
		require.Equal(t, http.StatusAccepted, r.StatusCode)
		require.Empty(t, r.all())
		r = w.do(http.MethodPost, "["+old("3", "echo", `{}`, "")+","+old("3", "echo", `{}`, "")+"]", h...)
		require.Equal(t, http.StatusBadRequest, r.StatusCode, "one id for two requests")
		require.Equal(t, -32600, parse(t, r.all()).Error.Code)
	})
}

// A duplicate id in flight is refused, and the first one goes on.
func TestSessionDuplicateID(t *testing.T) {
	overBoth(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, f *tools) {
		h := w.begin("2025-11-25")
		first := make(chan string)
		go func() { first <- w.do(http.MethodPost, old("1", "stuck", `{}`, ""), h...).all() }()
		<-f.entered
		r := w.do(http.MethodPost, old("1", "echo", `{}`, ""), h...)
		require.Equal(t, http.StatusBadRequest, r.StatusCode)
		require.Equal(t, -32600, parse(t, r.all()).Error.Code)
		r = w.do(http.MethodPost, old(`"1"`, "echo", `{"text":"another type"}`, ""), h...)
		require.Equal(t, "another type", parse(t, r.all()).text(t))
		close(f.release)
		require.Equal(t, "released", parse(t, <-first).text(t))
		require.EqualValues(t, 1, w.server.Stats().Duplicates)
	})
}

// A disconnect cancels nothing here; the client comes back for the rest.
func TestSessionResume(t *testing.T) {
	overBoth(t, serve.Options{}, serve.HTTPOptions{KeepAlive: time.Second, Retry: 500 * time.Millisecond}, func(w *web, f *tools) {
		h := w.begin("2025-11-25")
		r := w.do(http.MethodPost, old("1", "stuck", `{}`, ""), h...)
		first, ok := r.next()
		require.True(t, ok)
		require.NotEmpty(t, first.id)
		require.Equal(t, "500", first.retry)
		require.Empty(t, first.data)
		<-f.entered
		r.drop()
		synctest.Wait()
		require.Empty(t, f.left)
		close(f.release)
		synctest.Wait() // it is answered while nobody is there

		r = w.do(http.MethodGet, "", append(h, "Last-Event-ID", first.id)...)
		require.Equal(t, "text/event-stream", r.kind())
		e := r.message()
		require.Equal(t, "released", parse(t, e.data).text(t))
		_, more := r.next()
		require.False(t, more)
		// Once more, from before, and from after.
		r = w.do(http.MethodGet, "", append(h, "Last-Event-ID", first.id)...)
		require.Equal(t, e, r.message())
		r.drop()
		r = w.do(http.MethodGet, "", append(h, "Last-Event-ID", e.id)...)
		require.Equal(t, http.StatusOK, r.StatusCode)
		again, _ := r.next()
		require.Empty(t, again.data)
	})
}

// A later response takes a stream over from one that may be dead.
func TestSessionTakeOver(t *testing.T) {
	overBoth(t, serve.Options{}, serve.HTTPOptions{KeepAlive: -1}, func(w *web, _ *tools) {
		h := w.begin("2025-11-25")
		a := w.do(http.MethodGet, "", h...)
		_, ok := a.next()
		require.True(t, ok)
		b := w.do(http.MethodGet, "", h...)
		_, ok = b.next()
		require.True(t, ok)
		_, ok = a.next()
		require.False(t, ok, "the first one ends")
		w.server.Notify(mcp.Notification{Kind: mcp.ToolsChanged})
		require.Equal(t, "notifications/tools/list_changed", parse(t, b.message().data).Method)
	})
}

// What the session has to say before anybody listens is kept.
func TestSessionKeepsWhatNobodySaw(t *testing.T) {
	overBoth(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		h := w.begin("2025-06-18")
		w.server.Notify(mcp.Notification{Kind: mcp.ToolsChanged})
		r := w.do(http.MethodGet, "", h...)
		e := r.message()
		require.Equal(t, "notifications/tools/list_changed", parse(t, e.data).Method)
		r.drop()
		synctest.Wait()
		w.server.Notify(mcp.Notification{Kind: mcp.ToolsChanged})
		r = w.do(http.MethodGet, "", h...)
		require.NotEqual(t, e.id, r.message().id, "it is not shown twice")
	})
}

// The events that are kept are bounded; who comes too late is told.
func TestSessionReplayIsBounded(t *testing.T) {
	overBoth(t, serve.Options{}, serve.HTTPOptions{MaxReplayBytes: 4096}, func(w *web, _ *tools) {
		h := w.begin("2025-11-25")
		r := w.do(http.MethodPost, old("1", "progress", `{"n":100}`, `"p"`), h...)
		first, _ := r.next()
		for range 100 {
			_ = r.message()
		}
		last := r.message()
		require.Equal(t, "reported", parse(t, last.data).text(t))
		r = w.do(http.MethodGet, "", append(h, "Last-Event-ID", first.id)...)
		require.Equal(t, http.StatusBadRequest, r.StatusCode)
		_ = r.all()
		r = w.do(http.MethodGet, "", append(h, "Last-Event-ID", last.id)...)
		require.Equal(t, http.StatusOK, r.StatusCode)
	})
}

// The older era's questions to the client ride the stream of the call.
func TestSessionAsk(t *testing.T) {
	overBoth(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		h := w.begin("2025-11-25")
		r := w.do(http.MethodPost, old("1", "ask", `{}`, ""), h...)
		require.Equal(t, "text/event-stream", r.kind())
		q := parse(t, r.message().data)
		require.Equal(t, "roots/list", q.Method)
		late := w.do(http.MethodPost, `{"jsonrpc":"2.0","id":424242,"result":{}}`, h...)
		require.Equal(t, http.StatusAccepted, late.StatusCode)
		_ = late.all()
		got := w.do(http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[{"uri":"file:///x"}]}}`, q.ID), h...)
		require.Equal(t, http.StatusAccepted, got.StatusCode)
		_ = got.all()
		require.Contains(t, parse(t, r.message().data).text(t), "file:///x")
		require.EqualValues(t, 1, w.server.Stats().Late)
	})
}

func TestSessionIdle(t *testing.T) {
	overBoth(t, serve.Options{}, serve.HTTPOptions{SessionIdle: time.Minute, KeepAlive: -1}, func(w *web, f *tools) {
		h := w.begin("2025-11-25")
		r := w.do(http.MethodGet, "", h...)
		_, _ = r.next()
		pass(10 * time.Minute) // an open stream is no idleness
		require.Equal(t, 1, w.server.Stats().Open)
		r.drop()
		pass(59 * time.Second)
		_ = w.do(http.MethodPost, old("1", "echo", `{}`, ""), h...).all()
		pass(59 * time.Second)
		require.Equal(t, 1, w.server.Stats().Open)
		pass(2 * time.Minute)
		require.Zero(t, w.server.Stats().Open)
		r = w.do(http.MethodPost, old("2", "echo", `{}`, ""), h...)
		require.Equal(t, http.StatusNotFound, r.StatusCode)
		_ = r.all()
	})
}

// The session that was idle for longest makes room for a new one.
func TestSessionLimit(t *testing.T) {
	overBoth(t, serve.Options{MaxConnections: 2}, serve.HTTPOptions{}, func(w *web, f *tools) {
		first := w.begin("2025-11-25")
		pass(time.Second)
		second := w.begin("2025-11-25")
		busy := make(chan string)
		go func() { busy <- w.do(http.MethodPost, old("1", "stuck", `{}`, ""), first...).all() }()
		<-f.entered
		third := w.begin("2025-11-25")
		r := w.do(http.MethodPost, old("1", "echo", `{}`, ""), second...)
		require.Equal(t, http.StatusNotFound, r.StatusCode)
		_ = r.all()
		r = w.do(http.MethodPost, old("1", "echo", `{}`, ""), third...)
		require.Equal(t, http.StatusOK, r.StatusCode)
		_ = r.all()
		close(f.release)
		require.Equal(t, "released", parse(t, <-busy).text(t))
		require.Equal(t, 2, w.server.Stats().Open)
	})
}

// A session is for the principal alone that began it.
func TestSessionPrincipal(t *testing.T) {
	o := serve.HTTPOptions{Authorize: func(r *http.Request) (mcp.Caller, error) {
		return mcp.Caller{Principal: r.Header.Get("X-User")}, nil
	}}
	overBoth(t, serve.Options{}, o, func(w *web, _ *tools) {
		h := w.begin("2025-11-25")
		r := w.do(http.MethodPost, old("1", "echo", `{}`, ""), append(h, "X-User", "eve")...)
		require.Equal(t, http.StatusNotFound, r.StatusCode)
		_ = r.all()
	})
}

func TestModernOnly(t *testing.T) {
	overBoth(t, serve.Options{}, serve.HTTPOptions{ModernOnly: true}, func(w *web, _ *tools) {
		r := w.do(http.MethodPost, fmt.Sprintf(hello, "2025-11-25"))
		require.Empty(t, r.Header.Get("Mcp-Session-Id"))
		require.NotNil(t, parse(t, r.all()).Error)
		r = w.do(http.MethodGet, "", "Mcp-Session-Id", "x")
		require.Equal(t, http.StatusMethodNotAllowed, r.StatusCode)
		require.Equal(t, "POST", r.Header.Get("Allow"))
		_ = r.all()
	})
}
