package serve_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// overHTTP runs a test with an endpoint, in a bubble.
func overHTTP(t *testing.T, o serve.Options, ho serve.HTTPOptions, test func(w *web, f *tools)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		w := newWeb(t, f, o, ho)
		defer w.close()
		test(w, f)
	})
}

// overBoth is overHTTP with net/http's streams, and then with detached ones.
func overBoth(t *testing.T, o serve.Options, ho serve.HTTPOptions, test func(w *web, f *tools)) {
	t.Helper()
	for _, ho.Detach = range []bool{false, true} {
		overHTTP(t, o, ho, test)
	}
}

func TestHTTPOneAnswer(t *testing.T) {
	overHTTP(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		r := w.tool("7", "echo", `{"text":"over HTTP"}`)
		require.Equal(t, http.StatusOK, r.StatusCode)
		require.Equal(t, "application/json", r.kind())
		require.Empty(t, r.Header.Get("Mcp-Session-Id"))
		a := parse(t, r.all())
		require.Equal(t, "7", string(a.ID))
		require.Equal(t, "over HTTP", a.text(t))
	})
}

// Progress turns the response into an event stream, and all of it comes before the
// answer.
func TestHTTPProgress(t *testing.T) {
	overHTTP(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		r := w.tool("1", "progress", `{"n":3}`, `"progressToken":"p"`)
		require.Equal(t, "text/event-stream", r.kind())
		require.Equal(t, "no", r.Header.Get("X-Accel-Buffering"))
		for i := range 3 {
			e := r.message()
			require.Empty(t, e.id, "nothing can be resumed here")
			a := parse(t, e.data)
			require.EqualValues(t, i+1, a.Params.Progress)
			require.Equal(t, `"p"`, string(a.Params.Token))
		}
		require.Equal(t, "reported", parse(t, r.message().data).text(t))
		_, more := r.next()
		require.False(t, more)
	})
}

func TestHTTPStatus(t *testing.T) {
	overHTTP(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		noMeta := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
		badVersion := strings.Replace(request("1", "tools/list", ""), "2026-07-28", "1900-01-01", 1)
		for name, c := range map[string]struct {
			body    string
			headers []string
			status  int
			code    int
		}{
			"unknown method":       {request("1", "no/such", ""), modern("no/such", ""), 404, -32601},
			"no _meta":             {noMeta, modern("tools/list", ""), 400, -32602},
			"unknown version":      {badVersion, []string{"MCP-Protocol-Version", "1900-01-01", "Mcp-Method", "tools/list"}, 400, -32022},
			"unknown tool":         {call("1", "nope", "{}"), modern("tools/call", "nope"), 400, -32602},
			"no method header":     {request("1", "tools/list", ""), modern("", "", "Mcp-Method", ""), 400, -32020},
			"no version header":    {request("1", "tools/list", ""), modern("tools/list", "", "MCP-Protocol-Version", ""), 400, -32020},
			"another version":      {request("1", "tools/list", ""), modern("tools/list", "", "MCP-Protocol-Version", "2025-11-25"), 400, -32020},
			"another method":       {request("1", "tools/list", ""), modern("tools/call", ""), 400, -32020},
			"no name header":       {call("1", "echo", "{}"), modern("tools/call", ""), 400, -32020},
			"another name":         {call("1", "echo", "{}"), modern("tools/call", "wait"), 400, -32020},
			"not JSON":             {`{"jsonrpc":`, modern("x", ""), 400, -32700},
			"not a message":        {`{"jsonrpc":"1.0","id":1,"method":"x"}`, modern("x", ""), 400, -32600},
			"content type":         {request("1", "tools/list", ""), modern("tools/list", "", "Content-Type", "text/plain"), 415, -32600},
			"accept":               {request("1", "tools/list", ""), modern("tools/list", "", "Accept", "application/json"), 406, -32600},
			"null id":              {`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`, modern("tools/list", ""), 400, -32600},
			"response":             {`{"jsonrpc":"2.0","id":1,"result":{}}`, modern("x", ""), 400, -32600},
			"handler's own error":  {call("1", "panic", "{}"), modern("tools/call", "panic"), 200, -32603},
			"too deep":             {call("1", "echo", strings.Repeat(`{"a":`, 70)+"1"+strings.Repeat("}", 70)), modern("tools/call", "echo"), 400, -32600},
			"GET":                  {"", []string{"method", "GET"}, 405, -32600},
			"DELETE":               {"", []string{"method", "DELETE"}, 405, -32600},
			"PUT":                  {"", []string{"method", "PUT"}, 405, -32600},
			"GET with an event id": {"", []string{"method", "GET", "Last-Event-ID", "1-1"}, 405, -32600},
		} {
			method, headers := http.MethodPost, c.headers
			if headers[0] == "method" {
				method, headers = headers[1], headers[2:]
			}
			r := w.do(method, c.body, headers...)
			a := parse(t, r.all())
			require.Equal(t, c.status, r.StatusCode, name)
			require.NotNil(t, a.Error, name)
			require.Equal(t, c.code, a.Error.Code, name)
			require.Equal(t, "application/json", r.kind(), name)
		}
	})
}

func TestHTTPTooLarge(t *testing.T) {
	overHTTP(t, serve.Options{MaxFrame: 1000}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		r := w.tool("9", "echo", fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 2000)))
		require.Equal(t, http.StatusRequestEntityTooLarge, r.StatusCode)
		require.Equal(t, "9", string(parse(t, r.all()).ID), "the id could be read")
	})
}

func TestHTTPEncodedName(t *testing.T) {
	overHTTP(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		encoded := "=?base64?" + base64.StdEncoding.EncodeToString([]byte("echo")) + "?="
		r := w.do(http.MethodPost, call("1", "echo", `{"text":"a"}`), modern("tools/call", encoded)...)
		require.Equal(t, http.StatusOK, r.StatusCode)
		require.Equal(t, "a", parse(t, r.all()).text(t))
		r = w.do(http.MethodPost, call("1", "echo", `{}`), modern("tools/call", "=?base64?***?=")...)
		require.Equal(t, http.StatusBadRequest, r.StatusCode)
		require.Equal(t, -32020, parse(t, r.all()).Error.Code)
	})
}

// Two lines of one header are two values, of which an intermediary may have seen
// the other.
func TestHTTPHeaderTwice(t *testing.T) {
	overHTTP(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		r, err := http.NewRequest(http.MethodPost, "http://server.test/mcp", strings.NewReader(call("1", "echo", `{}`)))
		require.NoError(t, err)
		r.Header = http.Header{
			"Content-Type": {"application/json"}, "Accept": {"*/*"}, "Mcp-Protocol-Version": {"2026-07-28"},
			"Mcp-Method": {"tools/call"}, "Mcp-Name": {"echo", "wait"},
		}
		got, err := w.client.Do(r)
		require.NoError(t, err)
		defer got.Body.Close()
		require.Equal(t, http.StatusBadRequest, got.StatusCode)
	})
}

func TestHTTPNotification(t *testing.T) {
	overHTTP(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		r := w.do(http.MethodPost, cancelled("1"), modern("notifications/cancelled", "")...)
		require.Equal(t, http.StatusAccepted, r.StatusCode)
		require.Empty(t, r.all())
	})
}

// Equal ids of two clients are two requests; a cancel of one client's reaches
// nobody else's.
func TestHTTPEqualIDs(t *testing.T) {
	overHTTP(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, f *tools) {
		answers := make(chan string, 2)
		for range 2 {
			go func() { answers <- parse(t, w.tool("1", "stuck", `{}`).all()).text(t) }()
		}
		<-f.entered
		<-f.entered
		r := w.do(http.MethodPost, cancelled("1"), modern("notifications/cancelled", "")...)
		require.Equal(t, http.StatusAccepted, r.StatusCode)
		_ = r.all()
		synctest.Wait()
		close(f.release)
		require.Equal(t, "released", <-answers)
		require.Equal(t, "released", <-answers)
	})
}

// In the modern era the end of the response is the cancellation.
func TestHTTPDisconnectCancels(t *testing.T) {
	overHTTP(t, serve.Options{}, serve.HTTPOptions{KeepAlive: time.Second}, func(w *web, f *tools) {
		r := w.tool("1", "wait", `{}`) // comes with the first comment
		require.Equal(t, "text/event-stream", r.kind())
		<-f.entered
		r.drop()
		require.ErrorIs(t, <-f.left, context.Canceled)
		synctest.Wait()
		require.Zero(t, w.server.Stats().Live)
	})
}

func TestHTTPKeepAlive(t *testing.T) {
	overHTTP(t, serve.Options{}, serve.HTTPOptions{KeepAlive: 2 * time.Second}, func(w *web, f *tools) {
		began := time.Now()
		r := w.tool("1", "stuck", `{}`)
		for i := range 3 {
			e, ok := r.next()
			require.True(t, ok)
			require.Equal(t, ":", e.comment)
			require.Equal(t, time.Duration(i+1)*2*time.Second, time.Since(began))
		}
		close(f.release)
		require.Equal(t, "released", parse(t, r.message().data).text(t))
	})
}

func TestHTTPListen(t *testing.T) {
	overHTTP(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		r := w.do(http.MethodPost, request(`"l"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`), modern("subscriptions/listen", "")...)
		require.Equal(t, "text/event-stream", r.kind())
		require.Equal(t, "notifications/subscriptions/acknowledged", parse(t, r.message().data).Method)
		w.server.Notify(mcp.Notification{Kind: mcp.ToolsChanged})
		e := r.message()
		require.Equal(t, "notifications/tools/list_changed", parse(t, e.data).Method)
		require.Contains(t, e.data, `"io.modelcontextprotocol/subscriptionId":"l"`)
		require.Equal(t, 1, w.server.Stats().Live)
		// Registering is one change, for those who come later as well.
		w.server.RegisterTool(mcp.ServerTool{Tool: mcp.Tool{Name: "late"}, Handle: func(context.Context, *mcp.Request) (*mcp.ToolResult, error) { return mcp.ToolText("here"), nil }})
		require.Equal(t, "notifications/tools/list_changed", parse(t, r.message().data).Method)
		require.Equal(t, "here", parse(t, w.tool("1", "late", `{}`).all()).text(t))
		w.server.UnregisterTool("late")
		require.Equal(t, "notifications/tools/list_changed", parse(t, r.message().data).Method)
		require.Equal(t, -32602, parse(t, w.tool("1", "late", `{}`).all()).Error.Code)
		w.server.EndStreams()
		require.Equal(t, "complete", parse(t, r.message().data).Result.ResultType)
		_, more := r.next()
		require.False(t, more)
	})
}

func TestHTTPMaxLive(t *testing.T) {
	overHTTP(t, serve.Options{MaxLive: 1}, serve.HTTPOptions{}, func(w *web, f *tools) {
		first := make(chan string)
		go func() { first <- w.tool("1", "stuck", `{}`).all() }()
		<-f.entered
		r := w.tool("2", "echo", `{}`)
		require.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
		require.NotEmpty(t, r.Header.Get("Retry-After"))
		a := parse(t, r.all())
		require.Equal(t, "2", string(a.ID))
		require.Equal(t, -32603, a.Error.Code)
		close(f.release)
		require.Equal(t, "released", parse(t, <-first).text(t))
	})
}

func TestHTTPCorrelation(t *testing.T) {
	seen := make(chan serve.Event, 64)
	overHTTP(t, serve.Options{Observer: func(e serve.Event) { seen <- e }}, serve.HTTPOptions{}, func(w *web, _ *tools) {
		values := map[string]string{}
		for _, given := range []string{"abc-1", "", "has space", strings.Repeat("x", 129)} {
			_ = w.do(http.MethodPost, call("1", "echo", `{}`), modern("tools/call", "echo", "X-Correlation-Id", given)...).all()
			synctest.Wait()
			var of string
			for len(seen) > 0 {
				if e := <-seen; e.Kind == serve.ExchangeEnded {
					of = e.Correlation.String()
				}
			}
			values[given] = of
		}
		require.Equal(t, "abc-1", values["abc-1"])
		for given, of := range values {
			if given != "abc-1" {
				require.Regexp(t, "^[0-9a-f]{32}$", of, given)
			}
		}
	})
}

func TestHTTPShutdown(t *testing.T) {
	overHTTP(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, f *tools) {
		first := make(chan string)
		go func() { first <- w.tool("1", "stuck", `{}`).all() }()
		<-f.entered
		listening := w.do(http.MethodPost, request(`2`, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`), modern("subscriptions/listen", "")...)
		_ = listening.message()
		down := make(chan error)
		go func() { down <- w.server.Shutdown(context.Background()) }()
		require.Equal(t, "complete", parse(t, listening.message().data).Result.ResultType)
		synctest.Wait()
		r := w.tool("3", "echo", `{}`)
		require.Equal(t, http.StatusServiceUnavailable, r.StatusCode)
		_ = r.all()
		close(f.release)
		require.Equal(t, "released", parse(t, <-first).text(t))
		require.NoError(t, <-down)
	})
}

// A page of another site that resolves its name to this machine is kept out.
func TestHTTPHostAndOrigin(t *testing.T) {
	for name, c := range map[string]struct {
		o            serve.HTTPOptions
		host, origin string
		status       int
	}{
		"plain":                    {host: "", origin: "", status: 200},
		"localhost":                {host: "localhost:1234", status: 200},
		"ipv6":                     {host: "[::1]:80", status: 200},
		"another host":             {host: "evil.example.com", status: 403},
		"another origin":           {origin: "http://evil.example.com", status: 403},
		"rebound":                  {host: "evil.example.com", origin: "http://evil.example.com", status: 403},
		"a local origin":           {host: "localhost:1", origin: "http://localhost:6274", status: 200},
		"null origin":              {origin: "null", status: 403},
		"prefix is not enough":     {host: "localhost.evil.example.com", status: 403},
		"allowed host":             {o: serve.HTTPOptions{AllowedHosts: []string{"mcp.example.com"}}, host: "mcp.example.com:443", status: 200},
		"its own origin":           {o: serve.HTTPOptions{AllowedHosts: []string{"mcp.example.com"}}, host: "mcp.example.com", origin: "https://mcp.example.com", status: 200},
		"allowed origin":           {o: serve.HTTPOptions{AllowedOrigins: []string{"https://app.example.com"}}, origin: "https://app.example.com", status: 200},
		"any origin":               {o: serve.HTTPOptions{AllowedOrigins: []string{"*"}}, origin: "https://x.example.com", status: 200},
		"checks off":               {o: serve.HTTPOptions{AllowAnyHost: true, AllowAnyOrigin: true}, host: "a.example.com", origin: "https://b.example.com", status: 200},
		"another host beside list": {o: serve.HTTPOptions{AllowedHosts: []string{"mcp.example.com"}}, host: "evil.example.com", status: 403},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, newTools(), serve.Options{})
			defer s.Close()
			h, err := s.HTTP(c.o)
			require.NoError(t, err)
			web := httptest.NewServer(h)
			defer web.Close()
			r, err := http.NewRequest(http.MethodPost, web.URL, strings.NewReader(call("1", "echo", `{"text":"a"}`)))
			require.NoError(t, err)
			r.Header = http.Header{
				"Content-Type": {"application/json"}, "Accept": {"*/*"}, "Mcp-Protocol-Version": {"2026-07-28"},
				"Mcp-Method": {"tools/call"}, "Mcp-Name": {"echo"},
			}
			if c.host != "" {
				r.Host = c.host
			}
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			got, err := web.Client().Do(r)
			require.NoError(t, err)
			defer got.Body.Close()
			require.Equal(t, c.status, got.StatusCode)
		})
	}
}

func TestHTTPAuthorize(t *testing.T) {
	o := serve.HTTPOptions{Authorize: func(r *http.Request) (mcp.Caller, error) {
		switch r.Header.Get("Authorization") {
		case "Bearer good":
			return mcp.Caller{Principal: "ada"}, nil
		case "":
			return mcp.Caller{}, &serve.HTTPError{Status: 401, Challenge: "Bearer", Text: "token wanted"}
		default:
			return mcp.Caller{}, context.Canceled
		}
	}}
	overHTTP(t, serve.Options{}, o, func(w *web, _ *tools) {
		r := w.tool("1", "echo", `{}`)
		require.Equal(t, 401, r.StatusCode)
		require.Equal(t, "Bearer", r.Header.Get("WWW-Authenticate"))
		_ = r.all()
		r = w.do(http.MethodPost, call("1", "echo", `{"text":"hi"}`), modern("tools/call", "echo", "Authorization", "Bearer good")...)
		require.Equal(t, "hi", parse(t, r.all()).text(t))
		r = w.do(http.MethodPost, call("1", "echo", `{}`), modern("tools/call", "echo", "Authorization", "Bearer bad")...)
		require.Equal(t, 401, r.StatusCode)
		_ = r.all()
	})
}
