package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

// silent serves what f does not, as a server of the older era that keeps silent.
func silent(session func() string, f func(w http.ResponseWriter, r *http.Request, m message) bool) func(http.ResponseWriter, *http.Request, message) {
	return func(w http.ResponseWriter, r *http.Request, m message) {
		switch {
		case f(w, r, m):
		case m.Method == mcp.MethodInitialize:
			if session != nil {
				w.Header().Set("Mcp-Session-Id", session())
			}
			answer(w, m, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`)
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}
}

// holdOpen sends what there is and leaves the response open.
func holdOpen(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// A server that took a notification and leaves the response open keeps nobody.
func TestHTTPResponseLeftOpen(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusAccepted} {
		c := endpoint(t, client.Options{Era: client.EraLegacy, Timeout: client.NoTimeout}, silent(nil, func(w http.ResponseWriter, r *http.Request, m message) bool {
			if m.Method == "notifications/own" {
				w.WriteHeader(status)
				holdOpen(w, r)
				return true
			}
			return false
		}))
		require.NoError(t, c.Notify(context.Background(), "notifications/own", nil))
	}
}

// A notification that the server never takes expires like a call.
func TestHTTPNotificationExpires(t *testing.T) {
	c := endpoint(t, client.Options{Era: client.EraLegacy, Timeout: 100 * time.Millisecond}, silent(nil, func(w http.ResponseWriter, r *http.Request, m message) bool {
		if m.Method == "notifications/own" {
			<-r.Context().Done()
			return true
		}
		return false
	}))
	require.ErrorIs(t, c.Notify(context.Background(), "notifications/own", nil), conn.ErrTimeout)
}

// A new session that the server does not finish keeps none of those who wait for
// it longer than they wanted to.
func TestHTTPSessionThatNeverBegins(t *testing.T) {
	var sessions atomic.Int32
	c := endpoint(t, client.Options{Era: client.EraLegacy}, silent(func() string { return fmt.Sprint(sessions.Add(1)) },
		func(w http.ResponseWriter, r *http.Request, m message) bool {
			switch {
			case m.Method == "own":
				w.WriteHeader(http.StatusNotFound)
			case m.Method == mcp.NoteInitialized && sessions.Load() > 1:
				<-r.Context().Done()
			default:
				return false
			}
			return true
		}))
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			_, err := c.Call(context.Background(), "own", nil, client.CallOptions{Timeout: 200 * time.Millisecond})
			if !errors.Is(err, client.ErrSessionEnded) {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// The stream of a session that has ended goes with it, though the server leaves it
// open.
func TestHTTPOneStreamOfTheServer(t *testing.T) {
	var sessions, open atomic.Int32
	left := make(chan struct{}, 64)
	began := make(chan struct{}, 64)
	c := endpoint(t, client.Options{Era: client.EraLegacy}, silent(func() string { return fmt.Sprint(sessions.Add(1)) },
		func(w http.ResponseWriter, r *http.Request, m message) bool {
			switch {
			case m.Method == "own":
				w.WriteHeader(http.StatusNotFound)
			case r.Method == http.MethodGet:
				open.Add(1)
				w.Header().Set("Content-Type", "text/event-stream")
				began <- struct{}{}
				holdOpen(w, r)
				open.Add(-1)
				left <- struct{}{}
			default:
				return false
			}
			return true
		}))
	<-began
	for range 5 {
		_, err := c.Call(t.Context(), "own", nil, client.CallOptions{})
		require.ErrorIs(t, err, client.ErrSessionEnded)
		<-left // that of the session before
		<-began
		require.EqualValues(t, 1, open.Load())
	}
}

// A server that asks without end, and takes no answer, costs the places that there
// are and as many refusals; the rest is dropped.
func TestHTTPFloodOfRequests(t *testing.T) {
	for name, limits := range map[string]conn.Options{
		"requests": {MaxConcurrent: 2, MaxQueued: 3},
		"bytes":    {MaxConcurrent: 2, MaxQueued: 3, MaxQueuedBytes: 40},
	} {
		t.Run(name, func(t *testing.T) {
			places := 2 // of those that wait for their turn nothing is posted yet
			if name == "bytes" {
				places = 1 // one alone always passes
			}
			took, release := make(chan string, 1024), make(chan struct{})
			c := endpoint(t, client.Options{Era: client.EraLegacy, Conn: limits}, silent(nil, func(w http.ResponseWriter, r *http.Request, m message) bool {
				switch {
				case m.Method == "own":
					w.Header().Set("Content-Type", "text/event-stream")
					for i := range 500 {
						_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\",\"params\":{\"pad\":\"0123456789012345678901234567\"}}\n\n", i)
					}
					_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", m.ID)
				case m.Method == "" && r.Method == http.MethodPost:
					took <- string(m.ID)
					select {
					case <-release:
					case <-r.Context().Done():
					}
				default:
					return false
				}
				return true
			}))
			_, err := c.Call(t.Context(), "own", nil, client.CallOptions{})
			require.NoError(t, err)
			for range places + 5 {
				<-took
			}
			close(release)
			require.NoError(t, c.Close())
			require.LessOrEqual(t, len(took), 5-places, "those that waited")
		})
	}
}

// opened counts the responses that are open.
type opened struct{ now, most atomic.Int32 }

type openedBody struct {
	io.ReadCloser
	once func()
}

func (b openedBody) Close() error {
	b.once()
	return b.ReadCloser.Close()
}

func (o *opened) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		if n := o.now.Add(1); n > o.most.Load() {
			o.most.Store(n)
		}
		resp.Body = openedBody{resp.Body, sync.OnceFunc(func() { o.now.Add(-1) })}
	}
	return resp, err
}

// A call that polls for long holds no more of it than one that polls twice.
func TestHTTPStreamIsTakenUpOften(t *testing.T) {
	const often = 10
	var gets atomic.Int32
	id := make(chan string, 1)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		if r.Method == http.MethodPost {
			text, _ := io.ReadAll(r.Body)
			if codec.DecodeValue(text, &m) != nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
		}
		silent(nil, func(w http.ResponseWriter, r *http.Request, m message) bool {
			switch {
			case m.Method == "own":
				id <- string(m.ID)
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "id: e\nretry: 0\ndata:\n\n")
			case r.Header.Get("Last-Event-ID") != "":
				w.Header().Set("Content-Type", "text/event-stream")
				if n := gets.Add(1); n < often {
					_, _ = fmt.Fprintf(w, "id: e%d\ndata:\n\n", n)
				} else {
					_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", <-id)
				}
			default:
				return false
			}
			return true
		})(w, r, m)
	}))
	defer web.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	count := new(opened)
	c, err := client.Connect(t.Context(), client.HTTP{Endpoint: web.URL, Client: &http.Client{Transport: count}}, client.Options{Era: client.EraLegacy, Eras: &client.Eras{}})
	require.NoError(t, err)
	_, err = c.Call(t.Context(), "own", nil, client.CallOptions{})
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.EqualValues(t, often, gets.Load())
	require.LessOrEqual(t, count.most.Load(), int32(4), "of which are the first and the last")
	require.Zero(t, count.now.Load())
}
