package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
)

// endpoint serves one client; f answers all but server/discover.
func endpoint(t *testing.T, o client.Options, f func(w http.ResponseWriter, r *http.Request, m message)) *client.Client {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		if r.Method == http.MethodPost {
			if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			if m.Method == mcp.MethodDiscover && o.Era != client.EraLegacy {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, strings.ReplaceAll(discovered, "ID", string(m.ID)))
				return
			}
		}
		f(w, r, m)
	}))
	t.Cleanup(web.Close)
	o.Eras = &client.Eras{}
	c, err := client.Connect(t.Context(), client.HTTP{Endpoint: web.URL, Header: http.Header{"X-Own": {"yes"}}}, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, c.Close())
		noGoroutines(t)
	})
	return c
}

func answer(w http.ResponseWriter, m message, result string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// A JSON-RPC error in the body wins over the status; what is none gives the status.
func TestHTTPStatus(t *testing.T) {
	for _, c := range []struct {
		name, kind, body string
		status           int
		text             string
		is               error
	}{
		{"error in a 400", "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"bad"}}`, 400, "MCP error -32602: bad", &codec.Error{Code: -32602}},
		{"error without an id in a 404", "application/json", `{"jsonrpc":"2.0","error":{"code":-32601,"message":"no"}}`, 404, "MCP error -32601: no", &codec.Error{Code: -32601}},
		{"foreign error in a 500", "application/json", `{"error":"boom"}`, 500, "HTTP error: 500 Internal Server Error", nil},
		{"foreign error in a 200", "application/json", `{"error":"boom"}`, 200, "boom", nil},
		{"nothing in a 500", "", "", 500, "HTTP error: 500 Internal Server Error", nil},
		{"page in a 502", "text/html", "<h1>Bad gateway</h1>", 502, "HTTP error: 502 Bad Gateway", nil},
		{"page in a 200", "text/html", "<h1>Hello</h1>", 200, `content type "text/html"`, conn.ErrInvalidAnswer},
		{"invalid JSON in a 200", "application/json", "{", 200, "", conn.ErrInvalidAnswer},
		{"nothing in a 202", "", "", 202, "202 Accepted", client.ErrNoAnswer},
		{"no answer in events", "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n", 200, "", client.ErrNoAnswer},
		{"invalid JSON in events", "text/event-stream", "data: {\n\n", 200, "", conn.ErrInvalidAnswer},
		{"a notification is no answer", "application/json", `{"jsonrpc":"2.0","method":"x"}`, 200, "", client.ErrNoAnswer},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl := endpoint(t, client.Options{}, func(w http.ResponseWriter, _ *http.Request, _ message) {
				w.Header().Set("Content-Type", c.kind)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			_, err := cl.Call(t.Context(), "own/method", nil, client.CallOptions{})
			require.ErrorContains(t, err, c.text)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			if failure, ok := errors.AsType[*client.HTTPError](err); ok {
				require.Equal(t, c.status, failure.StatusCode)
				require.Equal(t, c.body, string(failure.Body))
			}
			sent, known := conn.Sent(err)
			require.True(t, sent && known)
			err = cl.Notify(t.Context(), "own/note", nil)
			if c.status/100 == 2 {
				require.NoError(t, err, "what a notification is answered with does not matter")
			} else {
				require.ErrorContains(t, err, c.text)
			}
		})
	}
}

func TestHTTPServerThatIsNotThere(t *testing.T) {
	web := httptest.NewServer(nil)
	web.Close()
	_, err := client.Connect(t.Context(), client.HTTP{Endpoint: web.URL}, client.Options{})
	require.Error(t, err)
	sent, known := conn.Sent(err)
	require.True(t, known && !sent)
	_, err = client.Connect(t.Context(), client.HTTP{Endpoint: "ftp://x"}, client.Options{})
	var option *client.OptionError
	require.ErrorAs(t, err, &option)
	require.Equal(t, "Endpoint", option.Field)
}

func TestHTTPHeaders(t *testing.T) {
	got := make(chan http.Header, 8)
	c := endpoint(t, client.Options{}, func(w http.ResponseWriter, r *http.Request, m message) {
		got <- r.Header
		if m.Method == mcp.MethodListTools {
			answer(w, m, `{"resultType":"complete","tools":[
				{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}},
				{"name":"héllo","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},"o":{"type":"string","x-mcp-header":"O"}}}}]}`)
			return
		}
		answer(w, m, `{"resultType":"complete","content":[]}`)
	})
	var names []string
	for tool, err := range c.Tools(t.Context()) {
		require.NoError(t, err)
		names = append(names, tool.Name)
	}
	require.Equal(t, []string{"héllo"}, names, "a tool that marks arguments wrongly is left out")
	h := <-got
	require.Equal(t, "application/json, text/event-stream", h.Get("Accept"))
	require.Equal(t, "application/json", h.Get("Content-Type"))
	require.Equal(t, "2026-07-28", h.Get("MCP-Protocol-Version"))
	require.Equal(t, "tools/list", h.Get("Mcp-Method"))
	require.Equal(t, "yes", h.Get("X-Own"))
	require.Empty(t, h.Values("Mcp-Name"))

	_, err := c.CallTool(t.Context(), "héllo", map[string]any{"r": "grün", "n": 42}, client.CallOptions{})
	require.NoError(t, err)
	h = <-got
	require.Equal(t, mcp.EncodeHeader("héllo"), h.Get("Mcp-Name"))
	require.Equal(t, mcp.EncodeHeader("grün"), h.Get("Mcp-Param-Region"))
	require.Equal(t, "42", h.Get("Mcp-Param-N"))
	require.Empty(t, h.Values("Mcp-Param-O"))
	_, err = c.ReadResource(t.Context(), "note://x", client.CallOptions{})
	require.NoError(t, err)
	require.Equal(t, "note://x", (<-got).Get("Mcp-Name"))
}

// A tool whose headers are not known is listed when the server misses them.
func TestHTTPHeadersAreLearnt(t *testing.T) {
	var calls atomic.Int32
	c := endpoint(t, client.Options{}, func(w http.ResponseWriter, r *http.Request, m message) {
		switch {
		case m.Method == mcp.MethodListTools:
			answer(w, m, `{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"R"}}}}]}`)
		case r.Header.Get("Mcp-Param-R") == "":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32020,"message":"mismatch"}}`, m.ID)
		default:
			calls.Add(1)
			answer(w, m, `{"content":[]}`)
		}
	})
	_, err := c.CallTool(t.Context(), "t", map[string]string{"r": "x"}, client.CallOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 1, calls.Load())
}

// The end of the request is the cancel of the modern era; the older one has a
// notification.
func TestHTTPCancel(t *testing.T) {
	for _, era := range []client.Era{client.EraModern, client.EraLegacy} {
		gone, told := make(chan struct{}), make(chan json.RawMessage, 1)
		c := endpoint(t, client.Options{Era: era}, func(w http.ResponseWriter, r *http.Request, m message) {
			switch {
			case m.Method == mcp.MethodInitialize:
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, strings.ReplaceAll(initialized, "ID", string(m.ID)))
			case m.Method == mcp.NoteCancelled:
				told <- m.Params
				w.WriteHeader(http.StatusAccepted)
			case m.Method == "hang":
				<-r.Context().Done()
				close(gone)
			case r.Method == http.MethodGet:
				w.WriteHeader(http.StatusMethodNotAllowed)
			default:
				w.WriteHeader(http.StatusAccepted)
			}
		})
		_, err := c.Call(t.Context(), "hang", nil, client.CallOptions{Timeout: 20 * time.Millisecond})
		require.ErrorIs(t, err, conn.ErrTimeout)
		<-gone
		if era == client.EraLegacy {
			require.Contains(t, string(<-told), `"requestId":`)
		}
		require.Empty(t, told)
	}
}

// A stream of the older era that ends early is taken up where it ended, after the
// pause that the server asked for.
func TestHTTPStreamIsTakenUp(t *testing.T) {
	var mu sync.Mutex
	var ids []string
	var pending message
	c := endpoint(t, client.Options{Era: client.EraLegacy}, func(w http.ResponseWriter, r *http.Request, m message) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case m.Method == mcp.MethodInitialize:
			w.Header().Set("Mcp-Session-Id", "s1")
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, strings.ReplaceAll(initialized, "ID", string(m.ID)))
		case m.Method == "slow":
			pending = m
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "id: e1\nretry: 1\ndata:\n\n")
		case r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") == "":
			w.WriteHeader(http.StatusMethodNotAllowed)
		case r.Method == http.MethodGet:
			ids = append(ids, r.Header.Get("Last-Event-ID")+" "+r.Header.Get("Mcp-Session-Id"))
			w.Header().Set("Content-Type", "text/event-stream")
			if len(ids) == 1 {
				_, _ = io.WriteString(w, "id: e2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n")
				return
			}
			_, _ = fmt.Fprintf(w, "id: e3\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"ok\":true}}\n\n", pending.ID)
		case r.Method == http.MethodDelete:
			ids = append(ids, "deleted "+r.Header.Get("Mcp-Session-Id"))
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	text, err := c.Call(t.Context(), "slow", nil, client.CallOptions{})
	require.NoError(t, err)
	require.JSONEq(t, `{"ok":true}`, string(text))
	require.NoError(t, c.Close())
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{"e1 s1", "e2 s1", "deleted s1"}, ids)
}

// A stream that never brings anything new is given up.
func TestHTTPStreamThatBringsNothing(t *testing.T) {
	var gets atomic.Int32
	c := endpoint(t, client.Options{Era: client.EraLegacy}, func(w http.ResponseWriter, r *http.Request, m message) {
		switch {
		case m.Method == mcp.MethodInitialize:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, strings.ReplaceAll(initialized, "ID", string(m.ID)))
		case r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") == "":
			w.WriteHeader(http.StatusMethodNotAllowed)
		case r.Method == http.MethodGet:
			gets.Add(1)
			w.Header().Set("Content-Type", "text/event-stream")
		case m.Method == "slow":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "id: e1\nretry: 0\ndata:\n\n")
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	_, err := c.Call(t.Context(), "slow", nil, client.CallOptions{Timeout: client.NoTimeout})
	require.ErrorIs(t, err, client.ErrNoAnswer)
	require.EqualValues(t, client.DefaultMaxResumes, gets.Load())
}

// A session that the server no longer knows is begun anew, once for all calls.
func TestHTTPSessionIsRenewed(t *testing.T) {
	var sessions atomic.Int32
	c := endpoint(t, client.Options{Era: client.EraLegacy}, func(w http.ResponseWriter, r *http.Request, m message) {
		switch {
		case m.Method == mcp.MethodInitialize:
			w.Header().Set("Mcp-Session-Id", fmt.Sprintf("s%d", sessions.Add(1)))
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, strings.ReplaceAll(initialized, "ID", string(m.ID)))
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case m.Method == "own" && r.Header.Get("Mcp-Session-Id") == "s1":
			w.WriteHeader(http.StatusNotFound)
		case m.Method == "own":
			answer(w, m, `{}`)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := c.Call(t.Context(), "own", nil, client.CallOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 2, sessions.Load())
}

// A request of the server that is withdrawn is not answered, and a second one with
// its id does not end it.
func TestHTTPServerRequests(t *testing.T) {
	answers := make(chan string, 8)
	asked, ended := make(chan struct{}), make(chan struct{})
	o := client.Options{Era: client.EraLegacy, Roots: func(ctx context.Context) ([]mcp.Root, error) {
		close(asked)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}}
	c := endpoint(t, o, func(w http.ResponseWriter, r *http.Request, m message) {
		switch {
		case m.Method == mcp.MethodInitialize:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, strings.ReplaceAll(initialized, "ID", string(m.ID)))
		case m.Method == "own":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}\n\n")
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}\n\n")
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}\n\n")
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":10,\"method\":\"sampling/createMessage\"}\n\n")
			w.(http.Flusher).Flush()
			<-asked
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"q\"}}\n\n")
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", m.ID)
		case m.Method == "" && len(m.ID) > 0:
			answers <- string(m.ID)
			w.WriteHeader(http.StatusAccepted)
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	_, err := c.Call(t.Context(), "own", nil, client.CallOptions{})
	require.NoError(t, err)
	<-ended
	require.ElementsMatch(t, []string{"9", "10"}, []string{<-answers, <-answers})
	require.NoError(t, c.Close())
	require.Empty(t, answers)
}
