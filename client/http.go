package client

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/mcp"
)

// Limits of HTTP, used where it says nothing.
const (
	// DefaultMaxIdleConns is how many connections to the endpoint are kept.
	DefaultMaxIdleConns = 256
	// DefaultResumeDelay is how long after the end of a stream of the older era it
	// is taken up again, unless the server says.
	DefaultResumeDelay = time.Second
	// DefaultMaxResumes is how often in a row a stream is taken up without anything
	// new coming.
	DefaultMaxResumes = 5
	// DefaultMaxHeader is how many bytes the headers of a response may have. One's
	// own http.Client has its own bound.
	DefaultMaxHeader = 256 << 10
	// DefaultGoodbye is how long Close waits for the server to end a session.
	DefaultGoodbye = time.Second
)

// HTTP is the way to a server with a Streamable HTTP endpoint, of either era.
type HTTP struct {
	// Endpoint is the URL, http or https. Required.
	Endpoint string
	// Client makes the requests; nil is one of the link's own that keeps
	// DefaultMaxIdleConns connections, takes headers of DefaultMaxHeader, and
	// follows redirects within the endpoint's origin that keep the method; any
	// other is an *HTTPError, so that no other server gets what Header has for
	// this one. It must set no Timeout, which would cut streams.
	Client *http.Client
	// TLS is for https where Client is nil: roots, a certificate of our own. Nil is
	// the system's roots and the name in the URL. It is cloned.
	TLS *tls.Config
	// Header is sent with every request, such as Authorization. It is copied by
	// Connect.
	Header http.Header
	// ResumeDelay is the pause before a stream of the older era is taken up again
	// where the server names none. Zero is DefaultResumeDelay, negative none.
	ResumeDelay time.Duration
	// MaxResumes is how often in a row that is tried without anything new coming.
	// Zero is DefaultMaxResumes, negative never.
	MaxResumes int
	// Goodbye bounds how long Close waits for the server to end a session of the
	// older era. Zero is DefaultGoodbye, negative does not ask it to.
	Goodbye time.Duration
}

func (t HTTP) peer() string {
	u, err := url.Parse(t.Endpoint)
	if err != nil {
		return ""
	}
	return "http\x00" + u.Scheme + "\x00" + u.Host + "\x00" + u.Path
}

func (t HTTP) reopens() bool { return false }

func (t HTTP) open(_ context.Context, c *Client) (link, error) {
	o := c.o.Conn
	l := &httpLink{
		c: c, serving: make(map[string]context.CancelFunc), slots: make(chan struct{}, concurrency(o.MaxConcurrent)),
		renews: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	wire, err := NewWire(t, WireOptions{Receive: l.receive, MaxFrame: o.MaxFrame, MaxDepth: o.MaxDepth, Clock: o.Clock})
	if err != nil {
		return nil, err
	}
	l.Wire = wire
	if l.engine, err = engine.New(engine.Options[[]byte]{
		MaxPending: o.MaxPending, Overflow: o.Overflow, Timeout: c.o.Timeout, IdleTimeout: c.o.IdleTimeout,
		Grace: o.Grace, Clock: o.Clock, Observer: o.Observer, OnPanic: o.OnPanic,
	}); err != nil {
		return nil, err
	}
	l.asked.limit(cap(l.slots), &o)
	return l, nil
}

// NewClient makes the http.Client that is used where t brings none: with TLS, the
// bounds, and the rule for redirects that t.Client tells of. Its Transport is an
// *http.Transport.
func (t HTTP) NewClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost, transport.MaxIdleConns = DefaultMaxIdleConns, DefaultMaxIdleConns
	transport.MaxResponseHeaderBytes = DefaultMaxHeader
	if t.TLS != nil {
		transport.TLSClientConfig = t.TLS.Clone()
	}
	return &http.Client{Transport: transport, CheckRedirect: redirect}
}

// maxRedirects is how often in a row a request is sent elsewhere.
const maxRedirects = 10

// redirect decides whether a redirect is followed or is the answer.
func redirect(to *http.Request, via []*http.Request) error {
	from := via[0]
	if len(via) > maxRedirects || to.Method != from.Method || to.URL.Scheme != from.URL.Scheme || to.URL.Host != from.URL.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

func concurrency(n int) int {
	if n == 0 {
		return conn.DefaultMaxConcurrent
	}
	return max(n, 1)
}

// httpLink is a link to an endpoint. Each call is an HTTP request of its own; the
// table of pending calls gives them ids and deadlines, as it does on a connection.
type httpLink struct {
	*Wire
	c      *Client
	engine *engine.Engine[[]byte]
	feeds

	mu      sync.Mutex                    // guards serving
	serving map[string]context.CancelFunc // requests of the server, by their id's text

	slots  chan struct{} // one for each request of the server that is served
	renews chan struct{} // has room for who begins a new session
	asked  backlog

	closing sync.Once
	ended   chan struct{}
}

func (l *httpLink) adopt(revision mcp.Revision) { l.Adopt(revision) }

func (l *httpLink) done() <-chan struct{} { return l.ended }

func (l *httpLink) err() error { return l.engine.Failure() }

func (l *httpLink) sessionID() string { return l.Session() }

func (l *httpLink) close() error {
	l.closing.Do(func() {
		_ = l.engine.Close() // every call fails, and its request ends
		_ = l.Wire.Close()
		close(l.ended)
	})
	return nil
}
