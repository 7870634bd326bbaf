package client_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// The same answer is the same failure, whatever way it came by.
func TestFailuresAreTheSameEverywhere(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		text         string // "" is success
		code         int64
		category     string
		data, result string
	}{
		{name: "result", answer: `{"jsonrpc":"2.0","id":ID,"result":{"x":1}}`, result: `{"x":1}`},
		{name: "error null beside a result", answer: `{"jsonrpc":"2.0","id":ID,"error":null,"result":{"x":1}}`, result: `{"x":1}`},
		{
			name: "structured", answer: `{"jsonrpc":"2.0","id":ID,"error":{"code":-5,"message":"no","data":{"a":[1]}}}`,
			text: "MCP error -5: no", code: -5, category: "mcp", data: `{"a":[1]}`,
		},
		{
			name: "error wins over a result", answer: `{"jsonrpc":"2.0","id":ID,"error":{"code":7,"message":"no"},"result":{}}`,
			text: "MCP error 7: no", code: 7, category: "mcp",
		},
		{name: "code 0", answer: `{"jsonrpc":"2.0","id":ID,"error":{"code":0,"message":"zero"}}`, text: "MCP error 0: zero", category: "mcp"},
		{name: "string", answer: `{"jsonrpc":"2.0","id":ID,"error":"boom"}`, text: "boom", code: codec.CodeInternal},
		{name: "empty string", answer: `{"jsonrpc":"2.0","id":ID,"error":""}`, text: "", code: codec.CodeInternal, result: "fails"},
		{name: "zero", answer: `{"jsonrpc":"2.0","id":ID,"error":0}`, text: "0", code: codec.CodeInternal},
		{name: "false", answer: `{"jsonrpc":"2.0","id":ID,"error":false}`, text: "false", code: codec.CodeInternal},
		{name: "object without a code", answer: `{"jsonrpc":"2.0","id":ID,"error":{"message":"odd"}}`, text: `{"message":"odd"}`, code: codec.CodeInternal},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modern(func(message) []string { return []string{c.answer} })
			scripted(t, s, client.Options{}, func(t *testing.T, cl *client.Client) {
				result, err := cl.Call(t.Context(), "own/method", nil, client.CallOptions{})
				if c.result != "" && c.result != "fails" {
					require.NoError(t, err)
					require.Equal(t, c.result, string(result))
					return
				}
				failure, ok := errors.AsType[*codec.Error](err)
				require.Truef(t, ok, "%v", err)
				require.Equal(t, c.text, failure.Error())
				require.Equal(t, c.code, failure.Code)
				require.Equal(t, c.category, failure.Category())
				require.Equal(t, c.data, string(failure.Data))
				sent, known := conn.Sent(err)
				require.True(t, sent && known)
			})
		})
	}
}

func TestInvalidResults(t *testing.T) {
	for _, c := range []struct{ name, method, result string }{
		{"unknown result type", "tools/call", `{"resultType":"other"}`},
		{"empty result type", "tools/call", `{"resultType":""}`},
		{"result type that is no text", "tools/call", `{"resultType":7}`},
		{"result type of the tasks extension", "tools/call", `{"resultType":"task","taskId":"t"}`},
		{"nothing is asked", "tools/call", `{"resultType":"input_required"}`},
		{"a list cannot ask", "tools/list", `{"resultType":"input_required","requestState":"x"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modern(func(message) []string { return []string{`{"jsonrpc":"2.0","id":ID,"result":` + c.result + `}`} })
			scripted(t, s, client.Options{}, func(t *testing.T, cl *client.Client) {
				_, err := cl.Call(t.Context(), c.method, nil, client.CallOptions{})
				require.ErrorIs(t, err, conn.ErrInvalidAnswer)
			})
		})
	}
	for _, result := range []string{`[]`, `"text"`, `{"resultType":null}`, `{"tools":[]}`, `{"resultType":"complete"}`} {
		t.Run("complete "+result, func(t *testing.T) {
			s := modern(func(message) []string { return []string{`{"jsonrpc":"2.0","id":ID,"result":` + result + `}`} })
			scripted(t, s, client.Options{}, func(t *testing.T, cl *client.Client) {
				got, err := cl.Call(t.Context(), "tools/call", nil, client.CallOptions{})
				require.NoError(t, err)
				require.Equal(t, result, string(got))
			})
		})
	}
}

func TestCursorsThatRepeat(t *testing.T) {
	s := modern(func(message) []string {
		return []string{`{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"a","inputSchema":{}}],"nextCursor":"","ttlMs":-5}}`}
	})
	scripted(t, s, client.Options{}, func(t *testing.T, c *client.Client) {
		seen := 0
		var last error
		for _, err := range c.Tools(t.Context()) {
			if last = err; err == nil {
				seen++
			}
		}
		require.ErrorIs(t, last, client.ErrCursorRepeated)
		require.Equal(t, 2, seen, `"" is a cursor`)
		page, err := c.ListTools(t.Context(), nil, client.CallOptions{})
		require.NoError(t, err)
		require.Zero(t, page.TTLMillis, "a negative time is none")
	})
}

// A failure that a server of ours gives is the same on every way to it, in either
// era.
func TestServersFailuresAreTheSameEverywhere(t *testing.T) {
	everywhere(t, client.Options{}, func(t *testing.T, c *client.Client, _ *serve.Server) {
		unknownResource := codec.Error{Code: codec.CodeInvalidParams, Data: []byte(`{"uri":"nothing://x"}`)}
		if c.Revision().IsLegacy() {
			unknownResource.Code = mcp.CodeResourceNotFound
		}
		for _, f := range []struct {
			method, params string
			want           codec.Error
		}{
			{mcp.MethodReadResource, `{"uri":"nothing://x"}`, unknownResource},
			{mcp.MethodCallTool, `{"name":"nothing"}`, codec.Error{Code: codec.CodeInvalidParams}},
			{mcp.MethodCallTool, `{"name":"add","arguments":[]}`, codec.Error{Code: codec.CodeInvalidParams}},
			{mcp.MethodListTools, `{"cursor":"forged"}`, codec.Error{Code: codec.CodeInvalidParams}},
			{"own/method", `{}`, codec.Error{Code: codec.CodeMethodNotFound}},
		} {
			_, err := c.Call(t.Context(), f.method, []byte(f.params), client.CallOptions{})
			failure, ok := errors.AsType[*codec.Error](err)
			require.Truef(t, ok, "%s: %v", f.method, err)
			require.Equal(t, f.want.Code, failure.Code, f.method)
			require.Equal(t, "mcp", failure.Category())
			require.NotEmpty(t, failure.Message)
			require.Equal(t, string(f.want.Data), string(failure.Data))
			sent, known := conn.Sent(err)
			require.True(t, sent && known)
		}
	})
}

// What fails on the way has a message and no category, on every way.
func TestFailuresOfTheWay(t *testing.T) {
	silent := modern(func(message) []string { return nil })
	silentHTTP := func(t *testing.T, _ script) client.Transport {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var m message
			_ = json.NewDecoder(r.Body).Decode(&m)
			if m.Method == mcp.MethodDiscover {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, silent.lines(m)[0])
				return
			}
			<-r.Context().Done()
		}))
		t.Cleanup(web.Close)
		return client.HTTP{Endpoint: web.URL}
	}
	for _, w := range scriptedWays {
		t.Run(w.name, func(t *testing.T) {
			open := w.open
			if w.name == "HTTP" {
				open = silentHTTP // an empty response would be an answer
			}
			c, err := client.Connect(t.Context(), open(t, silent), client.Options{Eras: &client.Eras{}})
			require.NoError(t, err)
			defer c.Close()
			ctx, cancel := context.WithCancelCause(t.Context())
			reason := errors.New("changed my mind")
			for _, f := range []struct {
				name string
				is   error
				call func() error
			}{
				{"no answer in time", conn.ErrTimeout, func() error {
					_, err := c.Call(t.Context(), "own", nil, client.CallOptions{Timeout: 10 * time.Millisecond})
					return err
				}},
				{"idle", conn.ErrTimeout, func() error {
					_, err := c.Call(t.Context(), "own", nil, client.CallOptions{Timeout: client.NoTimeout, IdleTimeout: 10 * time.Millisecond})
					return err
				}},
				{"cancelled", reason, func() error {
					time.AfterFunc(10*time.Millisecond, func() { cancel(reason) })
					_, err := c.Call(ctx, "own", nil, client.CallOptions{})
					return err
				}},
				{"closed", conn.ErrClosed, func() error {
					time.AfterFunc(10*time.Millisecond, func() { _ = c.Close() })
					_, err := c.Call(t.Context(), "own", nil, client.CallOptions{})
					return err
				}},
			} {
				err := f.call()
				require.ErrorIs(t, err, f.is, f.name)
				lost, ok := errors.AsType[*engine.CallError](err)
				require.Truef(t, ok, "%s: %v", f.name, err)
				require.Equal(t, "own", lost.Method, f.name)
				_, ok = errors.AsType[*codec.Error](err)
				require.Falsef(t, ok, "%s: the server said nothing: %v", f.name, err)
			}
		})
	}
}

// A peer that goes away fails every call at once, on every way.
func TestPeerThatGoesAway(t *testing.T) {
	for _, w := range scriptedWays {
		t.Run(w.name, func(t *testing.T) {
			gone := leaving{}
			c, err := client.Connect(t.Context(), gone.open(t, w.name), client.Options{Eras: &client.Eras{}})
			require.NoError(t, err)
			defer c.Close()
			_, err = c.Call(t.Context(), "own", nil, client.CallOptions{Timeout: client.NoTimeout})
			require.Error(t, err)
			sent, known := conn.Sent(err)
			require.True(t, sent && known)
			_, ok := errors.AsType[*codec.Error](err)
			require.Falsef(t, ok, "%v", err)
			if w.name == "HTTP" {
				require.NoError(t, c.Err(), "the next request makes a connection of its own")
				return
			}
			<-c.Done()
			require.ErrorIs(t, err, conn.ErrClosed)
		})
	}
}

// leaving is a server that goes away when it is called.
type leaving struct{}

func (leaving) open(t *testing.T, way string) client.Transport {
	hello := func(m message) string { return strings.ReplaceAll(discovered, "ID", string(m.ID)) }
	leave := func(c io.ReadWriteCloser) {
		defer c.Close()
		lines := bufio.NewReader(c)
		for {
			line, err := lines.ReadBytes('\n')
			var m message
			if err != nil || json.Unmarshal(line, &m) != nil || m.Method != mcp.MethodDiscover {
				return
			}
			_, _ = io.WriteString(c, hello(m)+"\n")
		}
	}
	switch way {
	case "HTTP":
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var m message
			_ = json.NewDecoder(r.Body).Decode(&m)
			if m.Method != mcp.MethodDiscover {
				panic(http.ErrAbortHandler)
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, hello(m))
		}))
		t.Cleanup(web.Close)
		return client.HTTP{Endpoint: web.URL}
	case "stdio":
		l := listen(t)
		go func() {
			c, err := l.Accept()
			if err == nil {
				leave(c)
			}
		}()
		return child(t, l)
	}
	near, far := net.Pipe()
	go leave(far)
	return client.Stream(near)
}
