package upstream

import (
	"context"
	"net/http"
	"net/url"
	"sync"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway/internal/toolschema"
	"github.com/correlator-go/correlator/gateway/link"
)

// HTTPOptions of the way to a Streamable HTTP endpoint. The zero value will do.
type HTTPOptions struct {
	// Token gives the bearer token of each request, so that it can be renewed; its
	// error fails the request. Nil leaves client.HTTP.Header as it is. What clients
	// of the gateway showed is never passed on.
	Token func(ctx context.Context) (string, error)
	// NoteBytes bounds the notifications and answers that wait to be posted, in
	// bytes. Zero is conn.DefaultWriteBuffer, negative 2 GiB.
	NoteBytes int64
	// Wire has the limits of what comes in. Receive and Lost are the way's own.
	Wire client.WireOptions
}

// HTTP is the way to a server with a Streamable HTTP endpoint, of either era. Each call
// is a request of its own, under the number by which the gateway knows it. All ways
// of one opener share their network connections. The error is a *client.OptionError.
func HTTP(t client.HTTP, o HTTPOptions) (link.Opener, error) {
	probe, err := client.NewWire(t, client.WireOptions{}) // has looked at the options
	if err != nil {
		return nil, err
	}
	if err := probe.Close(); err != nil {
		return nil, err
	}
	if o.NoteBytes == 0 {
		o.NoteBytes = conn.DefaultWriteBuffer
	} else if o.NoteBytes < 0 {
		o.NoteBytes = 1<<31 - 1
	}
	h := &httpOpener{name: withoutSecrets(t.Endpoint), t: t, o: o}
	if t.Client == nil {
		h.t.Client = t.NewClient()
		h.own = h.t.Client.Transport.(*http.Transport)
	}
	if o.Token != nil {
		authorized := *h.t.Client
		authorized.Transport = &bearer{next: authorized.Transport, token: o.Token}
		h.t.Client = &authorized
	}
	return h, nil
}

// withoutSecrets is an address without its user and query.
func withoutSecrets(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "?"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// httpOpener opens ways to one endpoint.
type httpOpener struct {
	name  string
	t     client.HTTP
	o     HTTPOptions
	own   *http.Transport    // nil if the user brought the client
	tools toolschema.Schemas // of whoever asks: they are the server's

	mu   sync.Mutex // guards ways
	ways int
}

func (h *httpOpener) String() string { return h.name }

// Open implements link.Opener. Nothing is sent before the first message is.
func (h *httpOpener) Open(_ context.Context, owner link.Owner, _ link.Key) (link.Upstream, error) {
	u := &httpWay{opener: h, owner: owner, calls: make(map[int64]*posting), ready: closed}
	o := h.o.Wire
	o.Receive, o.Lost = u.heard, u.End
	wire, err := client.NewWire(h.t, o)
	if err != nil {
		return nil, err
	}
	u.wire = wire
	h.mu.Lock()
	h.ways++
	h.mu.Unlock()
	return u, nil
}

// left closes the network connections with the last way.
func (h *httpOpener) left() {
	h.mu.Lock()
	h.ways--
	last := h.ways == 0
	h.mu.Unlock()
	if last && h.own != nil {
		h.own.CloseIdleConnections()
	}
}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// bearer adds a token to each request.
type bearer struct {
	next  http.RoundTripper // nil is http.DefaultTransport
	token func(ctx context.Context) (string, error)
}

// RoundTrip implements http.RoundTripper.
func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := b.token(r.Context())
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	if b.next == nil {
		return http.DefaultTransport.RoundTrip(r)
	}
	return b.next.RoundTrip(r)
}
