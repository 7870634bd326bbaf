package target_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/internal/load/target"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

type word struct {
	Text string `json:"text"`
}

// endpoint serves a tool that echoes and one that waits until it is cancelled, behind
// front, which may answer in its place.
func endpoint(t *testing.T, front func(w http.ResponseWriter, r *http.Request) (answered bool)) *httptest.Server {
	t.Helper()
	d, err := mcp.NewServer(mcp.Description{Info: mcp.Implementation{Name: "bench", Version: "3"}, Tools: []mcp.ServerTool{
		mcp.NewTool(mcp.Tool{Name: "echo"}, func(ctx context.Context, r *mcp.Request, in word) (string, error) {
			return in.Text, r.Report(ctx, mcp.Progress{Value: 1})
		}),
		mcp.NewTool(mcp.Tool{Name: "hang"}, func(ctx context.Context, _ *mcp.Request, _ word) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}),
	}})
	require.NoError(t, err)
	s, err := serve.New(d, serve.Options{})
	require.NoError(t, err)
	h, err := s.HTTP(serve.HTTPOptions{})
	require.NoError(t, err)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if front == nil || !front(w, r) {
			h.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		s.Close()
		web.Close()
	})
	return web
}

const hello = `{"name":"echo","arguments":{"text":"hello"}}`

func TestHTTP(t *testing.T) {
	for era, version := range map[client.Era]string{client.EraAuto: "2026-07-28", client.EraModern: "2026-07-28", client.EraLegacy: "2025-11-25"} {
		x := open(t, endpoint(t, nil).URL, target.Options{})
		l := x.Conns[0]
		_, err := l.Call(t.Context(), "tools/list", nil, conn.CallOptions{})
		require.ErrorContains(t, err, "not greeted")
		session, err := target.Shake(t.Context(), l, target.Greeting{Era: era})
		require.NoError(t, err)
		require.Equal(t, target.Session{Version: version, Server: "bench 3"}, session)

		before := l.Stats()
		require.Zero(t, before.Calls.Registered, "the greeting is no call")
		require.Positive(t, before.BytesOut)
		const n = 100
		outcomes := make(chan conn.Outcome, n)
		requests := make([]conn.Request, n)
		params := []byte(hello)
		for i := range requests {
			requests[i] = conn.Request{
				Method: "tools/call", Params: params, Notify: func(o conn.Outcome) { outcomes <- o },
				Options: conn.CallOptions{Progress: func(conn.Progress) {}},
			}
		}
		accepted, err := l.Submit(t.Context(), requests)
		require.NoError(t, err)
		require.Equal(t, n, accepted)
		clear(params) // they were copied
		for range n {
			o := <-outcomes
			require.NoError(t, o.Err)
			require.Equal(t, engine.Resolved, o.Status)
			require.Contains(t, string(o.Value), `"hello"`)
		}
		_, err = l.Call(t.Context(), "no/such/method", nil, conn.CallOptions{})
		refused := new(codec.Error)
		require.ErrorAs(t, err, &refused)
		_, err = l.Call(t.Context(), "tools/call", []byte(`{"name":"hang","arguments":{"text":""}}`), conn.CallOptions{Timeout: 20 * time.Millisecond})
		require.ErrorIs(t, err, conn.ErrTimeout)

		after := l.Stats()
		require.EqualValues(t, n+2, after.Calls.Registered)
		require.EqualValues(t, n, after.Calls.Resolved)
		require.EqualValues(t, 1, after.Calls.Rejected)
		require.EqualValues(t, 1, after.Calls.Expired)
		require.Zero(t, after.Calls.Pending)
		require.EqualValues(t, n, after.ProgressDelivered)
		require.GreaterOrEqual(t, after.Writes-before.Writes, uint64(n))
		require.Greater(t, after.BytesOut-before.BytesOut, uint64(n*len(hello)))
		require.Greater(t, after.BytesIn-before.BytesIn, uint64(n*len("hello")))
		require.NoError(t, x.Lost())
		require.NoError(t, x.Close())
	}
}

// Close ends what is in flight; nothing is taken after that.
func TestHTTPCloseCuts(t *testing.T) {
	x := open(t, endpoint(t, nil).URL, target.Options{})
	l := x.Conns[0]
	_, err := target.Shake(t.Context(), l, target.Greeting{})
	require.NoError(t, err)
	ended := make(chan conn.Outcome, 1)
	_, err = l.Start(t.Context(), "tools/call", []byte(`{"name":"hang","arguments":{"text":""}}`), conn.CallOptions{}, func(o conn.Outcome) { ended <- o })
	require.NoError(t, err)
	require.EqualValues(t, 1, l.Stats().Calls.Pending)
	require.NoError(t, l.Err())
	require.NoError(t, x.Close())
	require.Equal(t, engine.Failed, (<-ended).Status)
	_, err = l.Start(t.Context(), "tools/list", nil, conn.CallOptions{}, func(conn.Outcome) { t.Error("told of a call that was not taken") })
	require.ErrorIs(t, err, conn.ErrClosed)
	require.ErrorIs(t, l.Err(), conn.ErrClosed)
	require.NoError(t, x.Lost(), "what was cut is not lost")
}

// A bare status is an answer, a response that breaks off loses one call, an endpoint
// where nobody listens any more ends the link.
func TestHTTPFailures(t *testing.T) {
	var what atomic.Value
	what.Store("")
	web := endpoint(t, func(w http.ResponseWriter, r *http.Request) bool {
		switch what.Load() {
		case "status":
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		case "cut":
			_, _ = io.Copy(io.Discard, r.Body)
			panic(http.ErrAbortHandler)
		}
		return false
	})
	x := open(t, web.URL, target.Options{})
	l := x.Conns[0]
	_, err := target.Shake(t.Context(), l, target.Greeting{})
	require.NoError(t, err)
	call := func(does string) error {
		what.Store(does)
		_, err := l.Call(t.Context(), "tools/call", []byte(hello), conn.CallOptions{})
		return err
	}
	refused := new(codec.Error)
	require.ErrorAs(t, call("status"), &refused)
	require.EqualValues(t, 503, refused.Code)
	require.NoError(t, x.Lost())
	err = call("cut")
	require.Error(t, err)
	_, known := conn.Sent(err)
	require.False(t, known)
	require.Error(t, x.Lost())
	require.NoError(t, l.Err())
	require.NoError(t, call(""))
	require.EqualValues(t, 1, l.Stats().Calls.Failed)

	web.CloseClientConnections()
	web.Close()
	for l.Err() == nil {
		require.Error(t, call(""))
	}
	require.Error(t, l.Err())
	sent, known := conn.Sent(call(""))
	require.True(t, known && !sent, "the link takes no call any more")
	require.NoError(t, x.Close())
}

func TestHTTPNobodyThere(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	web.Close()
	x := open(t, web.URL, target.Options{})
	_, err := target.Shake(t.Context(), x.Conns[0], target.Greeting{})
	require.ErrorContains(t, err, strings.TrimPrefix(web.URL, "http://"))
	require.NoError(t, x.Close())
	_, err = target.ParseEra("middle")
	require.ErrorContains(t, err, "middle")
}
