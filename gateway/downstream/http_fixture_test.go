package downstream_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/internal/fake"
	"github.com/correlator-go/correlator/gateway/internal/residue"
)

// web is a gateway before a fake server, with an endpoint that is served at a loopback
// address.
type web struct {
	t        *testing.T
	g        *gateway.Gateway
	server   *fake.Server
	endpoint *downstream.Endpoint
	address  string
	scheme   string
	client   *http.Client
}

func serveWeb(t *testing.T, u gateway.Upstream, o downstream.HTTPOptions, so downstream.ServerOptions) *web {
	t.Helper()
	return serveWebOf(t, gateway.Options{Upstreams: []gateway.Upstream{u}}, o, so)
}

// serveWebOf is serveWeb with other options of the gateway, whose first upstream becomes
// the fake server.
func serveWebOf(t *testing.T, g gateway.Options, o downstream.HTTPOptions, so downstream.ServerOptions) *web {
	t.Helper()
	w := &web{t: t, scheme: "http", server: &fake.Server{}, client: &http.Client{Transport: &http.Transport{}}}
	g.Upstreams[0].Name, g.Upstreams[0].Opener = "fake", w.server
	o.Front.Detach = true
	var err error
	w.g, err = gateway.New(g)
	require.NoError(t, err)
	w.endpoint, err = downstream.NewEndpoint(w.g, o)
	require.NoError(t, err)
	l, err := downstream.Bind(t.Context(), "127.0.0.1:0", false)
	require.NoError(t, err)
	w.address = l.Addr().String()
	if so.TLS != nil {
		w.scheme = "https"
	}
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- downstream.ServeHTTP(ctx, l, w.endpoint, so, w.endpoint.Close) }()
	t.Cleanup(func() {
		w.client.CloseIdleConnections()
		stop()
		<-over
		require.NoError(t, w.g.Close())
		require.Zero(t, w.endpoint.Sessions())
		residue.Ended(t, w.g)
	})
	return w
}

func (w *web) url() string { return w.scheme + "://" + w.address + "/mcp" }

// reply is a response that is being read.
type reply struct {
	*http.Response
	t     *testing.T
	lines *bufio.Reader
	drop  context.CancelFunc
}

func (w *web) request(method, body string, headers ...string) (*http.Request, context.CancelFunc) {
	w.t.Helper()
	ctx, drop := context.WithCancel(w.t.Context())
	r, err := http.NewRequestWithContext(ctx, method, w.url(), strings.NewReader(body))
	require.NoError(w.t, err)
	r.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	return r, drop
}

// do sends a request and gives the response when its header has come.
func (w *web) do(method, body string, headers ...string) *reply {
	w.t.Helper()
	r, drop := w.request(method, body, headers...)
	response, err := w.client.Do(r)
	require.NoError(w.t, err)
	w.t.Cleanup(func() {
		drop()
		_ = response.Body.Close()
	})
	return &reply{Response: response, t: w.t, lines: bufio.NewReader(response.Body), drop: drop}
}

// begin is do for a request whose answer the test itself brings about.
func (w *web) begin(method, body string, headers ...string) <-chan *reply {
	out := make(chan *reply, 1)
	go func() { out <- w.do(method, body, headers...) }()
	return out
}

func (r *reply) all() string {
	r.t.Helper()
	b, err := io.ReadAll(r.lines)
	require.NoError(r.t, err)
	return string(b)
}

// event gives the data of the next event that has some; "" at the end.
func (r *reply) event() string {
	r.t.Helper()
	for {
		line, err := r.lines.ReadString('\n')
		if err != nil {
			return ""
		}
		if data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: "); ok && data != "" {
			return data
		}
	}
}

const (
	metaModern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	hello      = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{},"sampling":{},"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`
)

// modern are the headers of a request of the modern era.
func modern(method, name string, more ...string) []string {
	h := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}
	if name != "" {
		h = append(h, "Mcp-Name", name)
	}
	return append(h, more...)
}

// call is a tools/call of the modern era.
func (w *web) call(id, tool string, more ...string) <-chan *reply {
	return w.begin(http.MethodPost, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"`+tool+`",`+metaModern+`}}`, modern("tools/call", tool, more...)...)
}

// session begins one of the older era and gives its id.
func (w *web) session(headers ...string) string {
	w.t.Helper()
	r := w.do(http.MethodPost, hello, headers...)
	body := r.all()
	require.Equal(w.t, http.StatusOK, r.StatusCode, body)
	require.Contains(w.t, body, `"id":"hello"`)
	id := r.Header.Get("Mcp-Session-Id")
	require.NotEmpty(w.t, id)
	noted := w.do(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, append(headers, "Mcp-Session-Id", id)...)
	require.Equal(w.t, http.StatusAccepted, noted.StatusCode)
	return id
}

// dialed gives a raw connection.
func (w *web) dialed() net.Conn {
	w.t.Helper()
	c, err := new(net.Dialer).DialContext(w.t.Context(), "tcp", w.address)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

const (
	waitFor = 30 * time.Second
	tick    = time.Millisecond
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
