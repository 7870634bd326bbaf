package client

import (
	"context"
	"errors"
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
	u, err := url.Parse(t.Endpoint)
	if err == nil && (u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		err = errors.New("no http or https URL")
	}
	if err != nil {
		return nil, &OptionError{Field: "Endpoint", Value: t.Endpoint, Problem: err.Error()}
	}
	if t.ResumeDelay == 0 {
		t.ResumeDelay = DefaultResumeDelay
	}
	if t.MaxResumes == 0 {
		t.MaxResumes = DefaultMaxResumes
	}
	if t.Goodbye == 0 {
		t.Goodbye = DefaultGoodbye
	}
	t.Header = t.Header.Clone()
	o := c.o.Conn
	table, err := engine.New(engine.Options[[]byte]{
		MaxPending: o.MaxPending, Overflow: o.Overflow, Timeout: c.o.Timeout, IdleTimeout: c.o.IdleTimeout,
		Grace: o.Grace, Clock: o.Clock, Observer: o.Observer, OnPanic: o.OnPanic,
	})
	if err != nil {
		return nil, err
	}
	l := &httpLink{
		c: c, t: t, client: t.Client, engine: table, maxFrame: o.MaxFrame,
		ended: make(chan struct{}), serving: make(map[string]context.CancelFunc), slots: make(chan struct{}, concurrency(o.MaxConcurrent)),
		renews: make(chan struct{}, 1),
	}
	l.asked.limit(cap(l.slots), &o)
	if l.maxFrame == 0 {
		l.maxFrame = conn.DefaultMaxFrame
	} else if l.maxFrame < 0 {
		l.maxFrame = 1<<31 - 1
	}
	if l.client == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost, transport.MaxIdleConns = DefaultMaxIdleConns, DefaultMaxIdleConns
		transport.MaxResponseHeaderBytes = DefaultMaxHeader
		l.client, l.own = &http.Client{Transport: transport, CheckRedirect: redirect}, transport
	}
	l.base, l.stop = context.WithCancel(context.Background())
	return l, nil
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
	c        *Client
	t        HTTP
	client   *http.Client
	own      *http.Transport // nil if the user brought the client
	engine   *engine.Engine[[]byte]
	maxFrame int

	base context.Context // ends with the link
	stop context.CancelFunc
	work sync.WaitGroup // every goroutine of the link
	feeds

	// mu guards what follows.
	mu       sync.Mutex
	revision mcp.Revision
	session  string // Mcp-Session-Id; "" without one
	closed   bool
	serving  map[string]context.CancelFunc // requests of the server, by their id's text
	unlisten context.CancelFunc            // ends the stream of the session before
	ended    chan struct{}

	slots  chan struct{} // one for each request of the server that is served
	renews chan struct{} // has room for who begins a new session
	asked  backlog
}

func (l *httpLink) adopt(revision mcp.Revision) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.revision = revision
}

func (l *httpLink) state() (mcp.Revision, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.revision, l.session
}

func (l *httpLink) setSession(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session = id
}

// goOn starts a goroutine of the link; false says that the link has ended.
func (l *httpLink) goOn(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.work.Go(f)
	return true
}

func (l *httpLink) done() <-chan struct{} { return l.ended }

func (l *httpLink) err() error { return l.engine.Failure() }

func (l *httpLink) sessionID() string {
	_, id := l.state()
	return id
}

func (l *httpLink) close() error {
	l.mu.Lock()
	session, first := l.session, !l.closed
	l.closed = true
	l.mu.Unlock()
	if !first {
		<-l.ended
		return nil
	}
	_ = l.engine.Close() // every call fails, and its request ends
	l.stop()
	l.goodbye(session)
	l.work.Wait()
	if l.own != nil {
		l.own.CloseIdleConnections()
	}
	close(l.ended)
	return nil
}

// goodbye ends the session at the server, which may not want to know.
func (l *httpLink) goodbye(session string) {
	if session == "" || l.t.Goodbye < 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.t.Goodbye)
	defer cancel()
	req, err := l.newRequest(ctx, http.MethodDelete, nil)
	if err != nil {
		return
	}
	if resp, err := l.do(req); err == nil {
		discard(resp)
	}
}
