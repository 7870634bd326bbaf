package serve_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/serve"
)

// pipeListener is a listener of net.Pipes, for time that a test controls.
type pipeListener struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func (l *pipeListener) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- ours:
		return theirs, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// web is an endpoint and a client of it.
type web struct {
	t      testing.TB
	server *serve.Server
	http   *http.Server
	client *http.Client
	listen *pipeListener

	mu   sync.Mutex
	open []context.CancelFunc // of all responses
}

// newWeb serves f over HTTP within the test's bubble.
func newWeb(t testing.TB, f *tools, o serve.Options, ho serve.HTTPOptions) *web {
	t.Helper()
	s := newServer(t, f, o)
	h, err := s.HTTP(ho)
	require.NoError(t, err)
	l := newPipeListener()
	w := &web{
		t: t, server: s, http: &http.Server{Handler: h}, listen: l,
		client: &http.Client{Transport: &http.Transport{DialContext: l.dial}},
	}
	go func() { _ = w.http.Serve(l) }()
	return w
}

// close ends both sides.
func (w *web) close() {
	w.server.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, cancel := range w.open {
		cancel()
	}
	w.client.CloseIdleConnections()
	_ = w.http.Close()
}

// response is an HTTP response whose body is read as it comes.
type response struct {
	*http.Response
	t      testing.TB
	lines  *bufio.Reader
	cancel context.CancelFunc
}

// do sends a request; headers are pairs, "" takes one away.
func (w *web) do(method, body string, headers ...string) *response {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w.mu.Lock()
	w.open = append(w.open, cancel)
	w.mu.Unlock()
	r, err := http.NewRequestWithContext(ctx, method, "http://server.test/mcp", strings.NewReader(body))
	require.NoError(w.t, err)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	got, err := w.client.Do(r)
	require.NoError(w.t, err)
	return &response{Response: got, t: w.t, lines: bufio.NewReader(got.Body), cancel: cancel}
}

// modern are the headers of a modern request.
func modern(method, name string, more ...string) []string {
	headers := []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method}
	if name != "" {
		headers = append(headers, "Mcp-Name", name)
	}
	return append(headers, more...)
}

// tool calls a tool in the modern era.
func (w *web) tool(id, tool, arguments string, extra ...string) *response {
	w.t.Helper()
	return w.do(http.MethodPost, call(id, tool, arguments, extra...), modern("tools/call", tool)...)
}

// all is the rest of the body.
func (r *response) all() string {
	r.t.Helper()
	b, err := io.ReadAll(r.lines)
	require.NoError(r.t, err)
	_ = r.Body.Close()
	r.cancel()
	return string(b)
}

func (r *response) kind() string { return r.Header.Get("Content-Type") }

// event is one server-sent event.
type event struct{ id, retry, data, comment string }

// next is the next event or comment; false at the end.
func (r *response) next() (event, bool) {
	var e event
	for some := false; ; {
		line, err := r.lines.ReadString('\n')
		if err != nil {
			return e, false
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && some:
			return e, true
		case line == "":
		case name == "":
			e.comment, some = line, true
		case name == "id":
			e.id, some = value, true
		case name == "retry":
			e.retry, some = value, true
		case name == "data":
			e.data, some = value, true
		}
	}
}

// message is the next event that has data.
func (r *response) message() event {
	r.t.Helper()
	for {
		e, ok := r.next()
		require.True(r.t, ok, "the stream ended")
		if e.data != "" {
			return e
		}
	}
}

// drop goes away in the middle of a response.
func (r *response) drop() {
	r.cancel()
	_ = r.Body.Close()
}

// pass lets time go by in a bubble.
func pass(d time.Duration) { <-time.After(d) }
