package upstream_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/internal/residue"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/upstream"
	"github.com/correlator-go/correlator/mcp"
)

// seen is one request that an endpoint got.
type seen struct {
	verb   string
	header http.Header
	method string // of the message
	id     string // as its JSON text
	body   string
}

// endpoint is a server over HTTP that keeps what it got.
type endpoint struct {
	*httptest.Server
	older bool

	mu    sync.Mutex // guards what follows
	got   []seen
	more  chan struct{}
	turns int
}

// stream writes to a response that stays open.
type stream struct {
	w http.ResponseWriter
	r *http.Request
}

func (s *stream) say(frame string) {
	if s.w.Header().Get("Content-Type") == "" {
		s.w.Header().Set("Content-Type", "text/event-stream")
	}
	_, _ = fmt.Fprintf(s.w, "data: %s\n\n", frame)
	_ = http.NewResponseController(s.w).Flush()
}

const serverInfo = `"serverInfo":{"name":"web","version":"1"}`

// serve makes an endpoint of one era that answers the handshake; f has the rest, and all
// GETs.
func serveHTTP(t *testing.T, older bool, f func(s *stream, m *seen)) *endpoint {
	t.Helper()
	e := &endpoint{older: older}
	e.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		got := seen{verb: r.Method, header: r.Header.Clone(), body: string(body)}
		if m, err := codec.Parse(body, codec.ScanOptions{}); err == nil {
			got.method, got.id = string(m.Method()), string(m.RawID())
		}
		e.keep(got)
		reply := func(format string, args ...any) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, format, args...)
		}
		switch {
		case r.Method == http.MethodDelete:
		case got.method == mcp.MethodDiscover && !older:
			reply(`{"jsonrpc":"2.0","id":%s,"result":{"supportedVersions":["2026-07-28"],"capabilities":{},"resultType":"complete"}}`, got.id)
		case got.method == mcp.MethodDiscover, got.method == mcp.MethodInitialize && !older:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, "what?")
		case got.method == mcp.MethodInitialize:
			w.Header().Set("Mcp-Session-Id", e.session())
			reply(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},%s}}`, got.id, serverInfo)
		case r.Method == http.MethodPost && got.id == "" || got.method == "" && r.Method == http.MethodPost:
			w.WriteHeader(http.StatusAccepted)
		default:
			f(&stream{w, r}, &got)
		}
	}))
	e.Start()
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) session() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.turns++
	return fmt.Sprintf("s%d", e.turns)
}

func (e *endpoint) keep(s seen) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.got = append(e.got, s)
	if e.more != nil {
		close(e.more)
		e.more = nil
	}
}

// wait waits for the n-th request, from 0, that match likes.
func (e *endpoint) wait(n int, match func(*seen) bool) seen {
	for {
		e.mu.Lock()
		left := n
		for i := range e.got {
			if match(&e.got[i]) {
				if left == 0 {
					defer e.mu.Unlock()
					return e.got[i]
				}
				left--
			}
		}
		if e.more == nil {
			e.more = make(chan struct{})
		}
		more := e.more
		e.mu.Unlock()
		<-more
	}
}

func (e *endpoint) count(match func(*seen) bool) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.got {
		if match(&e.got[i]) {
			n++
		}
	}
	return n
}

func ofMethod(method string) func(*seen) bool {
	return func(s *seen) bool { return s.method == method }
}

// over makes a gateway whose one upstream is opened by o.
func over(t *testing.T, o link.Opener, u gateway.Upstream, opts gateway.Options) *gateway.Gateway {
	t.Helper()
	u.Name, u.Opener = "web", o
	opts.Upstreams = []gateway.Upstream{u}
	g, err := gateway.New(opts)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, g.Close())
		residue.Ended(t, g)
	})
	return g
}

func overHTTP(t *testing.T, e *endpoint, h client.HTTP, o upstream.HTTPOptions) *gateway.Gateway {
	t.Helper()
	h.Endpoint = e.URL
	opener, err := upstream.HTTP(h, o)
	require.NoError(t, err)
	require.NotContains(t, opener.String(), "?")
	return over(t, opener, gateway.Upstream{Isolation: gateway.Shared}, gateway.Options{})
}

func join(g *gateway.Gateway) *fake.Client {
	c := &fake.Client{Who: link.Peer{Transport: "fake"}}
	c.Join(g.Join(c))
	return c
}
