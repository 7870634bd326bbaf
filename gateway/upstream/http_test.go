package upstream_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/upstream"
)

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`

// The bytes of a modern call are the same on both sides, but for the id and the
// token; its headers say what it is, and there is no session.
func TestHTTPModern(t *testing.T) {
	e := serveHTTP(t, false, func(s *stream, m *seen) {
		s.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + m.id + `,"progress":1}}`)
		s.say(`{ "id":` + m.id + `,"result":{"n":1.50e0},"jsonrpc":"2.0"}`)
	})
	g := overHTTP(t, e, client.HTTP{}, upstream.HTTPOptions{})
	c := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"t","arguments":{"x": 1e3},`+meta+`,"progressToken":"mine"}}}`))
	require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"mine","progress":1}}`, c.Next())
	require.Equal(t, `{ "id":"a","result":{"n":1.50e0},"jsonrpc":"2.0"}`, c.Next())
	got := e.wait(0, ofMethod("tools/call"))
	require.Equal(t, `{"jsonrpc":"2.0","id":`+got.id+`,"method":"tools/call","params":{"name":"t","arguments":{"x": 1e3},`+meta+`,"progressToken":`+got.id+`}}}`, got.body)
	require.Equal(t, "tools/call", got.header.Get("Mcp-Method"))
	require.Equal(t, "t", got.header.Get("Mcp-Name"))
	require.Equal(t, "2026-07-28", got.header.Get("MCP-Protocol-Version"))
	require.Empty(t, got.header.Get("Mcp-Session-Id"))
}

// An older server gets one handshake, after which everything has its session.
func TestHTTPOlder(t *testing.T) {
	e := serveHTTP(t, true, func(s *stream, m *seen) {
		if m.verb == http.MethodGet {
			s.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			<-s.r.Context().Done()
			return
		}
		s.say(`{"jsonrpc":"2.0","id":` + m.id + `,"result":{}}`)
	})
	g := overHTTP(t, e, client.HTTP{}, upstream.HTTPOptions{})
	a, b := join(g), join(g)
	require.NoError(t, a.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	require.NoError(t, b.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	for _, c := range []interface{ Next() string }{a, b} {
		got := map[string]bool{c.Next(): true, c.Next(): true}
		require.True(t, got[`{"jsonrpc":"2.0","id":1,"result":{}}`], got)
		require.True(t, got[`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`], got)
	}
	require.NoError(t, a.Say(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{`+meta+`}}}`))
	require.Contains(t, a.Next(), `"id":2,`, "a modern request goes in the session as well")
	for n := range 3 {
		got := e.wait(n, ofMethod("tools/list"))
		require.Equal(t, "s1", got.header.Get("Mcp-Session-Id"))
		require.Equal(t, "2025-11-25", got.header.Get("MCP-Protocol-Version"))
	}
	require.Equal(t, 1, e.count(ofMethod("initialize")))
	require.NoError(t, g.Close())
	e.wait(0, func(s *seen) bool { return s.verb == http.MethodDelete && s.header.Get("Mcp-Session-Id") == "s1" })
}

// What a server asks on the stream of a call is for that call's client, on a shared way
// too; what it asks on the session's own stream is nobody's.
func TestHTTPReverseRequests(t *testing.T) {
	refused := make(chan string, 1)
	e := serveHTTP(t, true, func(s *stream, m *seen) {
		switch {
		case m.verb == http.MethodGet:
			s.say(`{"jsonrpc":"2.0","id":"own","method":"roots/list"}`)
			<-s.r.Context().Done()
		case strings.Contains(m.body, `"ask"`):
			s.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`)
			s.say(`{"jsonrpc":"2.0","id":"q\u0031","method":"elicitation/create","params":{}}`)
			<-refused // the answer has come
			s.say(`{"jsonrpc":"2.0","id":` + m.id + `,"result":{"for":"ask"}}`)
		default:
			<-s.r.Context().Done()
		}
	})
	g := overHTTP(t, e, client.HTTP{}, upstream.HTTPOptions{})
	other, c := join(g), join(g)
	require.NoError(t, other.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`))
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`))
	require.Contains(t, c.Next(), "notifications/message")
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}`, c.Next())
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`))
	got := e.wait(0, func(s *seen) bool { return strings.Contains(s.body, "accept") })
	require.Equal(t, `{"jsonrpc":"2.0","id":"q\u0031","result":{"action":"accept"}}`, got.body)
	refused <- ""
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"for":"ask"}}`, c.Next())
	e.wait(0, func(s *seen) bool { return strings.Contains(s.body, `"own"`) && strings.Contains(s.body, "-32601") })
	require.Empty(t, other.Unread())
}

// A cancel closes the request of a modern server, and is posted to an older one, with
// the id that it knows.
func TestHTTPCancel(t *testing.T) {
	for _, older := range []bool{false, true} {
		t.Run(fmt.Sprint(older), func(t *testing.T) {
			begun, ended := make(chan struct{}, 1), make(chan struct{}, 1)
			e := serveHTTP(t, older, func(s *stream, m *seen) {
				if m.verb == http.MethodGet {
					s.w.WriteHeader(http.StatusMethodNotAllowed)
					return
				}
				begun <- struct{}{}
				<-s.r.Context().Done()
				ended <- struct{}{}
			})
			g := overHTTP(t, e, client.HTTP{}, upstream.HTTPOptions{})
			c := join(g)
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"t"}}`))
			<-begun
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x","reason":"why not"}}`))
			<-ended
			if older {
				id := e.wait(0, ofMethod("tools/call")).id
				require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`,"reason":"why not"}}`,
					e.wait(0, ofMethod("notifications/cancelled")).body)
			} else {
				require.Zero(t, e.count(ofMethod("notifications/cancelled")))
			}
			require.Empty(t, c.Unread())
			require.EqualValues(t, 1, g.Stats().Cancelled)
		})
	}
}

// A deadline that passes, and a client that goes, end the request in the same way.
func TestHTTPEndsWithoutWords(t *testing.T) {
	for _, older := range []bool{false, true} {
		for _, expires := range []bool{false, true} {
			t.Run(fmt.Sprint(older, expires), func(t *testing.T) {
				begun, ended := make(chan struct{}, 1), make(chan struct{}, 1)
				e := serveHTTP(t, older, func(s *stream, m *seen) {
					if m.verb == http.MethodGet {
						s.w.WriteHeader(http.StatusMethodNotAllowed)
						return
					}
					begun <- struct{}{}
					<-s.r.Context().Done()
					ended <- struct{}{}
				})
				opener, err := upstream.HTTP(client.HTTP{Endpoint: e.URL}, upstream.HTTPOptions{})
				require.NoError(t, err)
				u := gateway.Upstream{Isolation: gateway.Shared, Timeout: -1}
				if expires {
					u.Timeout = 100 * time.Millisecond
				}
				g := over(t, opener, u, gateway.Options{})
				c := &fake.Client{}
				session := g.Join(c)
				c.Join(session)
				require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"t"}}`))
				<-begun
				if expires {
					require.Contains(t, c.Next(), `"code":-32001`)
				} else {
					session.Gone(nil)
				}
				<-ended
				if older {
					id := e.wait(0, ofMethod("tools/call")).id
					require.Contains(t, e.wait(0, ofMethod("notifications/cancelled")).body, `{"requestId":`+id)
				} else {
					require.Zero(t, e.count(ofMethod("notifications/cancelled")))
				}
				require.NoError(t, g.Close())
				require.Empty(t, c.Unread())
			})
		}
	}
}

// When a server no longer knows its session the call says so, and the next one meets a
// new session. Nothing is sent twice.
func TestHTTPSessionEnds(t *testing.T) {
	e := serveHTTP(t, true, func(s *stream, m *seen) {
		switch {
		case m.verb == http.MethodGet:
			s.w.WriteHeader(http.StatusMethodNotAllowed)
		case m.header.Get("Mcp-Session-Id") == "s1":
			s.w.WriteHeader(http.StatusNotFound)
		default:
			s.say(`{"jsonrpc":"2.0","id":` + m.id + `,"result":{}}`)
		}
	})
	g := overHTTP(t, e, client.HTTP{}, upstream.HTTPOptions{})
	c := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`))
	got := c.Next()
	require.Contains(t, got, `"code":-32003`)
	require.Contains(t, got, "HTTP session ended")
	e.wait(1, ofMethod("notifications/initialized"))
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`))
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, c.Next())
	require.Equal(t, 2, e.count(ofMethod("tools/call")))
}

// What goes wrong with one call is that call's: the way stays open, and what is secret
// stays so.
func TestHTTPFailures(t *testing.T) {
	for name, f := range map[string]struct {
		serve func(s *stream, m *seen)
		want  []string
	}{
		"an error in a refusal passes byte for byte": {func(s *stream, m *seen) {
			s.w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(s.w, `{"jsonrpc":"2.0", "id":%s,"error":{"code":-32602,"message":"bad","data":1.50}}`, m.id)
		}, []string{`{"jsonrpc":"2.0", "id":1,"error":{"code":-32602,"message":"bad","data":1.50}}`}},
		"an error without an id is the call's": {func(s *stream, m *seen) {
			s.w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprint(s.w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"bad"}}`)
		}, []string{`"id":1,`, `"code":-32600`, `"bad"`}},
		"a status": {func(s *stream, _ *seen) {
			s.w.WriteHeader(http.StatusBadGateway)
		}, []string{`"id":1,`, `"code":-32003`, "502 Bad Gateway", `"upstream":"web"`}},
		"an answer to another call": {func(s *stream, m *seen) {
			s.say(`{"jsonrpc":"2.0","id":1` + m.id + `,"result":"theirs"}`)
		}, []string{`"id":1,`, "no JSON-RPC response"}},
		"garbage": {func(s *stream, m *seen) {
			s.say(`{"jsonrpc":`)
		}, []string{`"id":1,`, `"code":-32003`}},
		"a page": {func(s *stream, m *seen) {
			s.w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprint(s.w, "<h1>")
		}, []string{`"id":1,`, "text/html"}},
		"the connection breaks": {func(s *stream, _ *seen) {
			panic(http.ErrAbortHandler)
		}, []string{`"id":1,`, "127.0.0.1", "EOF"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := serveHTTP(t, false, func(s *stream, m *seen) {
				if m.method == "fine" {
					s.say(`{"jsonrpc":"2.0","id":` + m.id + `,"result":{}}`)
					return
				}
				f.serve(s, m)
			})
			e.URL += "/mcp?key=secret"
			g := overHTTP(t, e, client.HTTP{}, upstream.HTTPOptions{})
			c := join(g)
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`))
			got := c.Next()
			for _, part := range f.want {
				require.Contains(t, got, part)
			}
			require.NotContains(t, got, "theirs")
			require.NotContains(t, got, "secret")
			require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"fine"}`))
			require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, c.Next())
			require.EqualValues(t, 1, g.Stats().Opened)
		})
	}
}

// Arguments that a tool's schema wants in headers are put there, once its list was seen.
func TestHTTPArgumentsInHeaders(t *testing.T) {
	e := serveHTTP(t, false, func(s *stream, m *seen) {
		result := `{}`
		if m.method == "tools/list" {
			const schema = `"inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`
			result = `{"tools":[{"name":"t",` + schema + `},{"name":"other","inputSchema":{}}]}`
		}
		s.say(`{"jsonrpc":"2.0","id":` + m.id + `,"result":` + result + `}`)
	})
	g := overHTTP(t, e, client.HTTP{}, upstream.HTTPOptions{})
	c := join(g)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"region":"eu"}}}`
	for _, frame := range []string{call, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, call} {
		require.NoError(t, c.Say(frame))
		c.Next()
	}
	require.Empty(t, e.wait(0, ofMethod("tools/call")).header.Get("Mcp-Param-Region"))
	require.Equal(t, "eu", e.wait(1, ofMethod("tools/call")).header.Get("Mcp-Param-Region"))

	// Members of another case are other members: the server does not go by them either.
	for n, params := range []string{`"Name":"other","arguments":{"region":"eu"},"Arguments":{"region":"us"}`, `"Arguments":{"region":"us"},"arguments":{"Region":"us","region":"eu"},"NAME":"other"`} {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t",`+params+`}}`))
		c.Next()
		require.Equal(t, "eu", e.wait(2+n, ofMethod("tools/call")).header.Get("Mcp-Param-Region"))
	}
}

// An argument that a header repeats stands once, once the tool's schema is known: the
// server compares one of two with the header, and the tool may take the other.
func TestHTTPArgumentInHeaderTwice(t *testing.T) {
	e := serveHTTP(t, false, func(s *stream, m *seen) {
		result := `{}`
		if m.method == "tools/list" {
			const schema = `"inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"free":{"type":"string"}}}`
			result = `{"tools":[{"name":"t",` + schema + `},{"name":"other","inputSchema":{}}]}`
		}
		s.say(`{"jsonrpc":"2.0","id":` + m.id + `,"result":` + result + `}`)
	})
	g := overHTTP(t, e, client.HTTP{}, upstream.HTTPOptions{})
	c := join(g)
	call := func(params string) string {
		require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{`+params+`}}`))
		return c.Next()
	}
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	require.Contains(t, c.Next(), "inputSchema")
	for _, params := range []string{
		`"name":"t","arguments":{"region":"eu","region":"us"}`,
		`"name":"t","arguments":{"region":"eu","reg\u0069on":"us"}`,
		`"name":"t","arguments":{"region":null,"region":"us"}`,
		`"name":"t","arguments":{"region":"eu"},"arguments":{"region":"us"}`,
	} {
		require.Equal(t, `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"invalid request: an argument that is repeated in a header stands twice"}}`, call(params), params)
	}
	// What no header repeats is the server's to read.
	for n, params := range []string{
		`"name":"t","arguments":{"region":"eu","free":"a","free":"b","deep":{"region":1,"region":2}}`,
		`"name":"other","arguments":{"region":"eu","region":"us"}`,
	} {
		require.Contains(t, call(params), `"result"`, params)
		require.Contains(t, e.wait(n, ofMethod("tools/call")).body, `"params":{`+params, "as it was")
	}
	s := g.Stats()
	require.EqualValues(t, 4, s.Failed)
	require.Zero(t, s.InFlight)
}

// Credentials are the upstream's own, renewed for each request.
func TestHTTPCredentials(t *testing.T) {
	e := serveHTTP(t, true, func(s *stream, m *seen) {
		if m.verb == http.MethodGet {
			s.w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		s.say(`{"jsonrpc":"2.0","id":` + m.id + `,"result":{}}`)
	})
	var asked atomic.Int64
	g := overHTTP(t, e, client.HTTP{Header: http.Header{"X-Api-Key": {"k"}}, Goodbye: -1}, upstream.HTTPOptions{Token: func(context.Context) (string, error) {
		asked.Add(1)
		return "own", nil
	}})
	c := join(g)
	require.NoError(t, c.Say(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
	c.Next()
	require.Positive(t, asked.Load())
	require.Zero(t, e.count(func(s *seen) bool {
		return s.header.Get("Authorization") != "Bearer own" || s.header.Get("X-Api-Key") != "k"
	}))
}
