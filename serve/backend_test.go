package serve_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// relay is a Backend whose connections the test has in its hand.
type relay struct {
	refuse error
	peers  chan *relayPeer
}

func newRelay() *relay { return &relay{peers: make(chan *relayPeer, 10)} }

func (r *relay) Open(_ context.Context, o serve.Opening, out serve.Outlet) (serve.Peer, error) {
	if r.refuse != nil {
		return nil, r.refuse
	}
	p := &relayPeer{opening: o, out: out, received: make(chan serve.Incoming, 10)}
	r.peers <- p
	return p, nil
}

type relayPeer struct {
	opening  serve.Opening
	out      serve.Outlet
	received chan serve.Incoming

	mu       sync.Mutex // guards the fields below
	revision mcp.Revision
	err      error
	live     int
	gone     []mcp.ExchangeID
	closed   bool
}

func (p *relayPeer) Receive(in *serve.Incoming) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return p.err
	}
	kept := *in
	m := in.Message.Detach()
	kept.Message = &m
	p.received <- kept
	return nil
}

func (p *relayPeer) Revision() mcp.Revision {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.revision
}

func (p *relayPeer) agree(r mcp.Revision) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.revision = r
}

func (p *relayPeer) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
}

func (p *relayPeer) Live() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.live
}

func (p *relayPeer) CloseExchange(x mcp.ExchangeID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = append(p.gone, x)
}

func (p *relayPeer) Close() {
	p.mu.Lock()
	first := !p.closed
	p.closed = true
	p.mu.Unlock()
	if first {
		p.out.Ended()
	}
}

func (p *relayPeer) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

func (p *relayPeer) answer(x mcp.ExchangeID, frame string, status int) {
	_ = p.out.Write(x, serve.Outgoing{Frame: []byte(frame), Final: true, Status: status})
	p.out.Close(x)
}

// ask sends a request to h and gives what was answered when it is over.
func ask(h http.Handler, ctx context.Context, method, body string, headers ...string) <-chan *httptest.ResponseRecorder { //nolint:revive // the handler is what it is about
	r := httptest.NewRequestWithContext(ctx, method, "http://server.test/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	out := make(chan *httptest.ResponseRecorder, 1)
	go func() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		out <- w
	}()
	return out
}

func before(t *testing.T, b serve.Backend, o serve.HTTPOptions) *serve.HTTP {
	t.Helper()
	h, err := serve.NewHTTP(b, o, serve.Options{})
	require.NoError(t, err)
	return h
}

const (
	relayHello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	relayCall  = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
)

// A request of the modern era has a connection to itself, and its client's end is its own.
func TestBackendModern(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newRelay()
		h := before(t, b, serve.HTTPOptions{})
		ctx, drop := context.WithCancel(t.Context())
		got := ask(h, ctx, http.MethodPost, relayCall, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "x", "X-Correlation-Id", "c")
		p := <-b.peers
		in := <-p.received
		require.Empty(t, p.opening.Session)
		require.Equal(t, "c", in.Correlation)
		require.True(t, in.Headers.Agree(in.Message))
		require.Len(t, in.IDs, 1)
		p.answer(in.Exchange, `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no"}}`, http.StatusNotFound)
		w := <-got
		require.Equal(t, http.StatusNotFound, w.Code)
		require.True(t, p.isClosed())

		got = ask(h, ctx, http.MethodPost, relayCall, "Mcp-Protocol-Version", "2026-07-28")
		p = <-b.peers
		in = <-p.received
		drop()
		<-got
		require.Equal(t, []mcp.ExchangeID{in.Exchange}, p.gone)
		require.ErrorIs(t, p.out.Write(in.Exchange, serve.Outgoing{Frame: []byte("{}")}), serve.ErrExchangeClosed)
	})
}

// A backend may take its time with initialize: the response waits for it, and has the
// session's id only if there is one.
func TestBackendSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newRelay()
		h := before(t, b, serve.HTTPOptions{SessionIdle: time.Minute})
		got := ask(h, t.Context(), http.MethodPost, relayHello)
		p := <-b.peers
		in := <-p.received
		synctest.Wait()
		p.agree(mcp.Revision20251125)
		p.answer(in.Exchange, `{"jsonrpc":"2.0","id":1,"result":{}}`, 0)
		w := <-got
		id := w.Header().Get("Mcp-Session-Id")
		require.Equal(t, p.opening.Session, id)
		require.NotEmpty(t, id)
		require.Equal(t, http.StatusOK, w.Code)

		p.fail(serve.ErrDuplicateID)
		w = <-ask(h, t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":2,"method":"ping"}`, "Mcp-Session-Id", id)
		require.Equal(t, http.StatusBadRequest, w.Code)
		p.fail(errors.New("gone"))
		w = <-ask(h, t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":2,"method":"ping"}`, "Mcp-Session-Id", id)
		require.Equal(t, http.StatusNotFound, w.Code)
		p.fail(nil)

		// What waits to be read is counted.
		require.NoError(t, p.out.Write(0, serve.Outgoing{Frame: []byte(`{"jsonrpc":"2.0","method":"x"}`)}))
		require.Positive(t, p.out.Waiting())
		require.False(t, p.isClosed())
		<-time.After(2 * time.Minute)
		synctest.Wait()
		require.True(t, p.isClosed(), "nobody came for a minute")
		w = <-ask(h, t.Context(), http.MethodGet, "", "Mcp-Session-Id", id)
		require.Equal(t, http.StatusNotFound, w.Code)
	})
}

func TestBackendRefusesSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newRelay()
		h := before(t, b, serve.HTTPOptions{})
		got := ask(h, t.Context(), http.MethodPost, relayHello)
		p := <-b.peers
		in := <-p.received
		p.answer(in.Exchange, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}`, 0)
		w := <-got
		require.Contains(t, w.Body.String(), `"no"`)
		require.Empty(t, w.Header().Get("Mcp-Session-Id"))
		require.True(t, p.isClosed())

		// Where it takes so long that the response has to begin, the session gets its name
		// before anybody knows, and ends if that was too soon.
		got = ask(h, t.Context(), http.MethodPost, relayHello)
		p = <-b.peers
		in = <-p.received
		<-time.After(serve.DefaultKeepAlive + time.Second)
		p.answer(in.Exchange, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}`, 0)
		w = <-got
		require.Equal(t, "text/event-stream", w.Header().Get("Content-Type"))
		require.NotEmpty(t, w.Header().Get("Mcp-Session-Id"))
		require.True(t, p.isClosed())

		b.refuse = errors.New("full")
		for _, body := range []string{relayHello, relayCall} {
			require.Equal(t, http.StatusServiceUnavailable, (<-ask(h, t.Context(), http.MethodPost, body)).Code)
		}
	})
}

func TestBackendOptions(t *testing.T) {
	_, err := serve.NewHTTP(newRelay(), serve.HTTPOptions{}, serve.Options{MaxFrame: -1})
	var e *serve.OptionError
	require.ErrorAs(t, err, &e)
	require.Equal(t, "MaxFrame", e.Field)
}

// Admit is for handlers beside the endpoint.
func TestAdmit(t *testing.T) {
	h := before(t, newRelay(), serve.HTTPOptions{AllowedHosts: []string{"server.test"}, Authorize: func(r *http.Request) (mcp.Caller, error) {
		if r.Header.Get("Authorization") == "" {
			return mcp.Caller{}, errors.New("who?")
		}
		return mcp.Caller{Principal: "alice"}, nil
	}})
	r := httptest.NewRequest(http.MethodGet, "http://server.test/mcp", nil)
	w := httptest.NewRecorder()
	_, ok := h.Admit(w, r)
	require.False(t, ok)
	require.Equal(t, http.StatusUnauthorized, w.Code)
	r.Header.Set("Authorization", "x")
	caller, ok := h.Admit(httptest.NewRecorder(), r)
	require.True(t, ok)
	require.Equal(t, "alice", caller.Principal)
	r.Host = "evil.test"
	w = httptest.NewRecorder()
	_, ok = h.Admit(w, r)
	require.False(t, ok)
	require.Equal(t, http.StatusForbidden, w.Code)
}
