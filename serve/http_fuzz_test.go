package serve_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/serve"
)

// Whatever a request says, it is answered with a status that HTTP has, and nothing
// of it stays when its client goes.
func FuzzHTTP(f *testing.F) {
	f.Add("POST", "application/json", "*/*", "2026-07-28", "tools/call", "echo", "", "", call("1", "echo", `{"text":"a"}`))
	f.Add("POST", "application/json", "application/json, text/event-stream", "", "", "", "", "", fmt.Sprintf(hello, "2025-11-25"))
	f.Add("POST", "application/json", "*/*", "2025-03-26", "", "", "session", "", "["+old("1", "progress", `{"n":2}`, "1")+"]")
	f.Add("GET", "", "text/event-stream", "", "", "", "session", "1-0", "")
	f.Add("DELETE", "", "", "", "", "", "session", "", "")
	f.Add("POST", "application/json", "*/*", "2026-07-28", "subscriptions/listen", "=?base64?eA==?=", "", "x", request("1", "subscriptions/listen", `"notifications":{}`))
	f.Fuzz(func(t *testing.T, method, contentType, accept, version, name, tool, session, last, body string) {
		s := newServer(t, newTools(), serve.Options{Timeout: 20 * time.Millisecond, Grace: time.Millisecond, MaxFrame: 1 << 16})
		defer s.Close()
		h, err := s.HTTP(serve.HTTPOptions{KeepAlive: 5 * time.Millisecond})
		require.NoError(t, err)
		serveOne := func(session string) *httptest.ResponseRecorder {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
			defer cancel()
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", strings.NewReader(body))
			r.Method = method
			for header, value := range map[string]string{
				"Content-Type": contentType, "Accept": accept, "Mcp-Protocol-Version": version, "Mcp-Method": name,
				"Mcp-Name": tool, "Mcp-Session-Id": session, "Last-Event-Id": last,
			} {
				if value != "" {
					r.Header.Set(header, value)
				}
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		if session == "session" { // one that there is
			r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(fmt.Sprintf(hello, "2025-03-26")))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "*/*")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			session = w.Header().Get("Mcp-Session-Id")
			require.NotEmpty(t, session)
		}
		w := serveOne(session)
		require.GreaterOrEqual(t, w.Code, 200)
		require.Less(t, w.Code, 600)
		if w.Code >= 400 {
			require.Equal(t, "application/json", w.Header().Get("Content-Type"))
			require.Contains(t, w.Body.String(), `"error"`)
		}
	})
}
