package serve_test

import (
	"bufio"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// A detached stream is one of HTTP as before: chunks, events, an end that is whole; and
// a client that goes is noticed, so that its session can become idle.
func TestDetachedStream(t *testing.T) {
	overHTTP(t, serve.Options{}, serve.HTTPOptions{Detach: true, SessionIdle: time.Minute, KeepAlive: 10 * time.Second}, func(w *web, _ *tools) {
		h := w.begin("2025-11-25")
		r := w.do(http.MethodGet, "", h...)
		require.Equal(t, http.StatusOK, r.StatusCode)
		require.Equal(t, "text/event-stream", r.kind())
		require.Equal(t, []string{"chunked"}, r.TransferEncoding)
		_, ok := r.next()
		require.True(t, ok, "what to come back with")
		pass(11 * time.Second)
		e, ok := r.next()
		require.True(t, ok)
		require.Equal(t, ":", e.comment)
		w.server.Notify(mcp.Notification{Kind: mcp.ToolsChanged})
		require.Contains(t, r.message().data, "notifications/tools/list_changed")

		other := w.do(http.MethodGet, "", h...)
		_, ok = r.next()
		require.False(t, ok, "another response carries the session's events")
		other.drop()
		pass(2 * time.Minute)
		require.Zero(t, w.server.Stats().Open, "nobody listens")
	})
}

// The end of a session is the end of its stream, behind a last chunk.
func TestDetachedStreamEndsWhole(t *testing.T) {
	overHTTP(t, serve.Options{}, serve.HTTPOptions{Detach: true}, func(w *web, _ *tools) {
		h := w.begin("2025-06-18")
		r := w.do(http.MethodGet, "", h...)
		gone := w.do(http.MethodDelete, "", h...)
		require.Equal(t, http.StatusNoContent, gone.StatusCode)
		require.Empty(t, r.all(), "no error: nothing was cut off")
	})
}

// A client that reads nothing is given up when the endpoint ends.
func TestEndDetached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, newTools(), serve.Options{WriteTimeout: -1})
		h, err := s.HTTP(serve.HTTPOptions{Detach: true})
		require.NoError(t, err)
		l := newPipeListener()
		w := &web{t: t, server: s, http: &http.Server{Handler: h}, listen: l, client: &http.Client{Transport: &http.Transport{DialContext: l.dial}}}
		go func() { _ = w.http.Serve(l) }()
		headers := w.begin("2025-11-25")
		c, err := l.dial(t.Context(), "", "")
		require.NoError(t, err)
		_, err = fmt.Fprintf(c, "GET /mcp HTTP/1.1\r\nHost: server.test\r\nAccept: text/event-stream\r\nMcp-Session-Id: %s\r\n\r\n", headers[1])
		require.NoError(t, err)
		answer, err := http.ReadResponse(bufio.NewReaderSize(c, 16), nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.StatusCode)
		synctest.Wait() // it is stuck in its first event
		s.Close()
		begun := time.Now()
		h.EndDetached(3 * time.Second)
		require.Equal(t, 3*time.Second, time.Since(begun))
		h.EndDetached(time.Hour)
		require.Equal(t, 3*time.Second, time.Since(begun), "none is left")
		_ = answer.Body.Close()
		_ = c.Close()
		w.close()
	})
}

// Behind a ResponseWriter that has no connection to give, the stream stays where it is.
func TestDetachWithoutConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, newTools(), serve.Options{})
		h, err := s.HTTP(serve.HTTPOptions{Detach: true})
		require.NoError(t, err)
		l := newPipeListener()
		w := &web{t: t, server: s, listen: l, client: &http.Client{Transport: &http.Transport{DialContext: l.dial}}}
		w.http = &http.Server{Handler: http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) { h.ServeHTTP(flusher{to, to.(http.Flusher)}, r) })}
		go func() { _ = w.http.Serve(l) }()
		defer w.close()
		headers := w.begin("2025-06-18")
		r := w.do(http.MethodGet, "", headers...)
		require.Equal(t, http.StatusOK, r.StatusCode)
		s.Notify(mcp.Notification{Kind: mcp.ToolsChanged})
		require.Contains(t, r.message().data, "notifications/tools/list_changed")
		r.drop()
	})
}

// flusher hides what else a ResponseWriter can do.
type flusher struct {
	http.ResponseWriter
	http.Flusher
}
