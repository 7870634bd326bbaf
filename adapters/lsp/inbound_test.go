package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/lsp"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

type folders struct {
	Folders []map[string]string `json:"workspaceFolders"`
}

// asks has a server ask and returns what it got, as "result …" or "error …".
func asks(t *testing.T, o lsp.Options, method, params string) (got string) {
	t.Helper()
	c := connect(t, o, func(f *fake) {
		f.serve(func(m message) {
			switch {
			case m.Method == "go":
				f.send(`"id":"a\/7","method":%q,"params":%s`, method, params)
			case m.Result != nil:
				got = "result " + string(m.Result)
			case m.Error != nil:
				got = fmt.Sprintf("error %d %s", m.Error.Code, m.Error.Message)
			}
			if m.Method == "" {
				require.Equal(t, `"a\/7"`, string(m.ID))
			}
		})
	})
	_, err := c.Initialize(t.Context(), folders{[]map[string]string{{"name": "w", "uri": "file:///w"}}}, lsp.CallOptions{})
	require.NoError(t, err)
	require.NoError(t, c.Notify(t.Context(), "go", nil))
	synctest.Wait()
	require.NoError(t, c.Shutdown(t.Context()))
	return got
}

// What a server asks of a program that has nothing to say is answered.
func TestAnsweredByItself(t *testing.T) {
	o := lsp.Options{Settings: map[string]any{"gopls": map[string]bool{"staticcheck": true}, "none": nil}}
	for _, try := range []struct{ method, params, want string }{
		{"workspace/configuration", `{"items":[{"section":"gopls"},{"scopeUri":"file:///w","section":"other"},{"section":"none"},{}]}`, `result [{"staticcheck":true},null,null,null]`},
		{"workspace/configuration", `{"items":[]}`, "result []"},
		{"workspace/configuration", `{}`, "result []"},
		{"workspace/configuration", `[5]`, "error -32602"},
		{"workspace/workspaceFolders", "null", `result [{"name":"w","uri":"file:///w"}]`},
		{"workspace/applyEdit", `{"edit":{}}`, `result {"applied":false,"failureReason":"this client applies no edits"}`},
		{"client/registerCapability", `{"registrations":[]}`, "result null"},
		{"client/unregisterCapability", `{"unregisterations":[]}`, "result null"},
		{"window/workDoneProgress/create", `{"token":"x"}`, "result null"},
		{"window/showMessageRequest", `{"type":1,"message":"?"}`, "result null"},
		{"window/showDocument", `{"uri":"file:///w"}`, `result {"success":false}`},
		{"workspace/semanticTokens/refresh", "null", "result null"},
		{"workspace/inlayHint/refresh", "null", "result null"},
		{"workspace/executeWhatever", "null", "error -32601 method not found"},
		{"textDocument/refresh", "null", "error -32601 method not found"},
	} {
		synctest.Test(t, func(t *testing.T) {
			require.Contains(t, asks(t, o, try.method, try.params), try.want, try.method)
		})
	}
}

// What a program answers, its errors and its accidents.
func TestOnRequest(t *testing.T) {
	panics := 0
	o := lsp.Options{Conn: conn.Options{OnPanic: func(any, []byte) { panics++ }}}
	var failed []error
	o.OnError = func(method string, err error) { failed = append(failed, fmt.Errorf("%s: %w", method, err)) }
	type pair struct{ A, B int }
	result := func(v any, err error) lsp.RequestHandler {
		return func(context.Context, json.RawMessage) (any, error) { return v, err }
	}
	o.OnRequest = map[string]lsp.RequestHandler{
		"workspace/applyEdit": result(json.RawMessage(`{"applied":true}`), nil), // before what is answered by itself
		"sum":                 lsp.HandleRequest(func(_ context.Context, p pair) (int, error) { return p.A + p.B, nil }),
		"nothing":             result(nil, nil),
		"raw":                 result(nil, &codec.Error{Code: -5, Message: "five"}),
		"code":                result(nil, fmt.Errorf("not now: %w", lsp.ErrRequestFailed)),
		"plain":               result(nil, errors.New("no")),
		"channel":             result(make(chan int), nil),
		"huge":                result(strings.Repeat("x", conn.DefaultMaxFrame), nil),
		"panic":               func(context.Context, json.RawMessage) (any, error) { panic("oh") },
		"goexit": func(context.Context, json.RawMessage) (any, error) {
			runtime.Goexit()
			return nil, nil
		},
		"": func(_ context.Context, p json.RawMessage) (any, error) { return "any: " + string(p), nil },
	}
	for _, try := range []struct{ method, params, want string }{
		{"workspace/applyEdit", "{}", `result {"applied":true}`},
		{"window/showDocument", "{}", `result {"success":false}`},
		{"sum", `{"A":2,"B":3}`, "result 5"},
		{"sum", `[2]`, "error -32602"},
		{"nothing", "null", "result null"},
		{"raw", "null", "error -5 five"},
		{"code", "null", "error -32803 not now: request failed"},
		{"plain", "null", "error -32603 no"},
		{"channel", "null", "error -32603"},
		{"huge", "null", "error -32603 answer too large"},
		{"panic", "null", "error -32603 the handler failed"},
		{"goexit", "null", "error -32603 the handler failed"},
		{"unheard/of", `[1]`, `result "any: [1]"`},
	} {
		synctest.Test(t, func(t *testing.T) {
			require.Contains(t, asks(t, o, try.method, try.params), try.want, try.method)
		})
	}
	require.Equal(t, 1, panics)
	require.Len(t, failed, 1)
	require.ErrorIs(t, failed[0], conn.ErrTooLarge)
	require.ErrorContains(t, failed[0], "huge: ")
}

// A request that the server cancels ends the handler's context and is answered at once.
func TestServerCancelsItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got message
		ended := false
		c := session(t, lsp.Options{OnRequest: map[string]lsp.RequestHandler{"wait": func(ctx context.Context, _ json.RawMessage) (any, error) {
			<-ctx.Done()
			ended = true
			return nil, ctx.Err()
		}}}, func(f *fake, m message) {
			if m.Method == "go" {
				f.send(`"id":1,"method":"wait"`)
				f.send(`"method":"$/cancelRequest","params":{"id":1}`)
				return
			}
			got = m
		})
		require.NoError(t, c.Notify(t.Context(), "go", nil))
		synctest.Wait()
		require.True(t, ended)
		require.EqualValues(t, lsp.ErrRequestCancelled, got.Error.Code)
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// Notifications come to their handlers in order, one at a time, and handlers may call.
func TestOnNotification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 500
		var heard []string
		var failed []string
		var c *lsp.Client
		type logged struct {
			Message string `json:"message"`
		}
		o := lsp.Options{
			OnError: func(method string, err error) { failed = append(failed, method) },
			OnNotification: map[string]lsp.NotificationHandler{
				"window/logMessage": lsp.HandleNotification(func(_ context.Context, p logged) error {
					heard = append(heard, p.Message)
					return nil
				}),
				"window/showMessage": func(ctx context.Context, _ json.RawMessage) error {
					_, err := c.Call(ctx, "back", nil, lsp.CallOptions{})
					return err
				},
				"panic":  func(context.Context, json.RawMessage) error { panic("oh") },
				"goexit": func(context.Context, json.RawMessage) error { runtime.Goexit(); return nil },
				"": func(_ context.Context, p json.RawMessage) error {
					heard = append(heard, "any "+string(p))
					return nil
				},
			},
		}
		called := 0
		c = session(t, o, func(f *fake, m message) {
			switch m.Method {
			case "go":
				for i := range n {
					f.send(`"method":"window/logMessage","params":{"message":"%d"}`, i)
				}
				f.send(`"method":"window/showMessage"`)
				f.send(`"method":"window/logMessage","params":5`)
				f.send(`"method":"panic"`)
				f.send(`"method":"goexit"`)
				f.send(`"method":"textDocument/publishDiagnostics","params":{"uri":"x"}`)
				f.send(`"method":"window/logMessage"`)
			case "back":
				called++
				f.answer(m, "null")
			}
		})
		require.NoError(t, c.Notify(t.Context(), "go", nil))
		synctest.Wait()
		require.Len(t, heard, n+2)
		for i := range n {
			require.Equal(t, fmt.Sprint(i), heard[i])
		}
		require.Equal(t, []string{`any {"uri":"x"}`, ""}, heard[n:])
		require.Equal(t, 1, called)
		require.Equal(t, []string{"window/logMessage"}, failed)
		require.Equal(t, lsp.Stats{Panics: 1}, c.Stats())
		require.NoError(t, c.Shutdown(t.Context()))
	})
}

// Notifications beyond the bounds are dropped, counted and shown; none is by default for
// a handler that keeps up.
func TestNotificationsAreBounded(t *testing.T) {
	for _, try := range []struct {
		name    string
		o       conn.Options
		dropped int
	}{
		{"number", conn.Options{MaxQueued: 10}, 39},
		{"none waits", conn.Options{MaxQueued: -1}, 49},
		{"bytes", conn.Options{MaxQueuedBytes: 40}, 44},
		{"one alone always may", conn.Options{MaxQueuedBytes: 1}, 48},
		{"no bound of bytes", conn.Options{MaxQueuedBytes: -1}, 0},
	} {
		t.Run(try.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, release := make(chan struct{}, 50), make(chan struct{})
				heard, shown := 0, 0
				o := lsp.Options{Conn: try.o, OnNotification: map[string]lsp.NotificationHandler{"x": func(context.Context, json.RawMessage) error {
					begun <- struct{}{}
					<-release
					heard++
					return nil
				}}}
				o.Conn.OnStray = func(s conn.Stray) {
					require.Equal(t, conn.StrayNotification, s.Reason)
					require.Contains(t, string(s.Frame), `"method":"x"`)
					shown++
				}
				c := session(t, o, func(f *fake, m message) {
					f.send(`"method":"x"`)
					<-begun
					for range 49 {
						f.send(`"method":"x","params":[1,2,3]`)
					}
				})
				require.NoError(t, c.Notify(t.Context(), "go", nil))
				synctest.Wait()
				close(release)
				synctest.Wait()
				require.Equal(t, try.dropped, shown)
				require.Equal(t, 50-try.dropped, heard)
				require.EqualValues(t, try.dropped, c.Stats().NotificationsDropped)
				require.NoError(t, c.Shutdown(t.Context()))
			})
		})
	}
}
