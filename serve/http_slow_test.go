package serve_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/serve"
)

// A body that never comes keeps no answer back for longer than ReadTimeout, whatever
// is answered and whether anybody wants the body.
func TestBodyThatNeverComes(t *testing.T) {
	const accept = "Accept: application/json, text/event-stream\r\n"
	for _, c := range []struct {
		name, head string
		options    serve.HTTPOptions
		status     int
	}{
		{"taken", "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" + accept, serve.HTTPOptions{}, 400},
		{"of no type", "POST /mcp HTTP/1.1\r\nHost: a\r\n" + accept, serve.HTTPOptions{}, 415},
		{"from another site", "POST /mcp HTTP/1.1\r\nHost: a\r\nOrigin: http://evil.example\r\n", serve.HTTPOptions{}, 403},
		{"to another host", "POST /mcp HTTP/1.1\r\nHost: b\r\n", serve.HTTPOptions{AllowedHosts: []string{"a"}}, 403},
		{"with another method", "PUT /mcp HTTP/1.1\r\nHost: a\r\n", serve.HTTPOptions{}, 405},
		{"of a DELETE", "DELETE /mcp HTTP/1.1\r\nHost: a\r\nMcp-Session-Id: none\r\n", serve.HTTPOptions{}, 404},
		{"of a GET", "GET /mcp HTTP/1.1\r\nHost: a\r\nMcp-Session-Id: none\r\n" + accept, serve.HTTPOptions{}, 400},
	} {
		for _, length := range []string{"Content-Length: 100\r\n", "Transfer-Encoding: chunked\r\n"} {
			t.Run(c.name+" "+length[:7], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c.options.ReadTimeout = 3 * time.Second
					w := newWeb(t, newTools(), serve.Options{}, c.options)
					defer w.close()
					peer, err := w.listen.dial(context.Background(), "", "")
					require.NoError(t, err)
					defer peer.Close()
					_, err = io.WriteString(peer, c.head+length+"\r\n")
					require.NoError(t, err)
					begun := time.Now()
					resp, err := http.ReadResponse(bufio.NewReader(peer), nil)
					require.NoError(t, err)
					defer resp.Body.Close()
					require.Equal(t, c.status, resp.StatusCode)
					require.LessOrEqual(t, time.Since(begun), 3*time.Second)
				})
			})
		}
	}
}

// The stream of a GET stays open beyond ReadTimeout.
func TestStreamOutlivesReadTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, newTools(), serve.Options{}, serve.HTTPOptions{ReadTimeout: time.Second, KeepAlive: 10 * time.Second})
		defer w.close()
		session := w.begin("2025-11-25")
		r := w.do(http.MethodGet, "", session...)
		defer r.drop()
		_, ok := r.next() // that primes it
		require.True(t, ok)
		e, ok := r.next()
		require.True(t, ok, "the stream ended")
		require.NotEmpty(t, e.comment)
	})
}

// A response that nobody reads keeps its own answer, and not those of all requests
// that follow it, which count for MaxReplayBytes as ever.
func TestSlowResponseKeepsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const replay = 10_000
		w := newWeb(t, newTools(), serve.Options{}, serve.HTTPOptions{MaxReplayBytes: replay})
		defer w.close()
		h := w.begin("2025-11-25")
		const slow = 100_000
		r := w.do(http.MethodPost, old("1", "echo", `{"text":"`+strings.Repeat("s", slow)+`"}`, ""), h...)
		defer r.drop()
		for i := range 50 {
			_ = w.do(http.MethodPost, old(fmt.Sprint(i+2), "echo", `{"text":"`+strings.Repeat("x", 1000)+`"}`, ""), h...).all()
			synctest.Wait()
			require.Less(t, w.server.Stats().Waiting, int64(slow+replay+1000))
		}
		require.Greater(t, w.server.Stats().Waiting, int64(slow), "that of the slow one waits")
		require.Contains(t, r.all(), "sss")
		synctest.Wait()
		require.LessOrEqual(t, w.server.Stats().Waiting, int64(replay), "then it may go as well")
	})
}

// A client that is asked before it says that it is initialized, and never does,
// keeps its session no longer than any other that is gone.
func TestSessionThatIsNeverInitialized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, newTools(), serve.Options{}, serve.HTTPOptions{SessionIdle: time.Minute})
		defer w.close()
		r := w.do(http.MethodPost, fmt.Sprintf(hello, "2025-11-25"))
		id := r.Header.Get("Mcp-Session-Id")
		_ = r.all()
		ctx, cancel := context.WithCancel(context.Background())
		ask, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://server.test/mcp", strings.NewReader(old("1", "ask", "{}", "")))
		require.NoError(t, err)
		ask.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {id}}
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			if resp, err := w.client.Do(ask); err == nil {
				_ = resp.Body.Close()
			}
		}()
		synctest.Wait()
		require.Equal(t, 1, w.server.Stats().Live)
		cancel()
		<-gone
		<-time.After(3 * time.Minute)
		require.Zero(t, w.server.Stats().Live)
		require.Zero(t, w.server.Stats().Open)
	})
}
