package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/mcp"
)

// Wire is the HTTP of a Streamable HTTP endpoint, of either era, without a table of
// calls and without a handshake: it posts messages as they are, reads what comes
// for each, takes broken streams up again, and keeps the session. It is for
// programs that pass messages on and keep the table themselves; everybody else
// wants Connect with an HTTP. Its methods are safe for concurrent use.
type Wire struct {
	t      HTTP
	o      WireOptions
	client *http.Client
	own    *http.Transport // nil if the user brought the client

	base  context.Context // ends with the wire
	stop  context.CancelFunc
	work  sync.WaitGroup // every goroutine of the wire, and every Exchange
	ended chan struct{}

	// mu guards what follows.
	mu       sync.Mutex
	revision mcp.Revision
	session  string // Mcp-Session-Id; "" without one
	closed   bool
	unlisten context.CancelFunc // ends the stream of the session before
}

// WireOptions of a Wire. The zero value drops what comes on the session's own stream.
type WireOptions struct {
	// Receive gets what comes on the stream of the older era that belongs to no
	// request, answers to requests whose own stream broke among them. The message is
	// borrowed. It is called by one goroutine at a time per session, and delays what
	// is behind it.
	Receive func(m *codec.Message)
	// Lost is called when that stream shows that the server no longer knows the
	// session: err is ErrSessionEnded. It must not call Close and wait for it.
	Lost func(err error)
	// MaxFrame bounds a message that comes in, in bytes. Zero is
	// conn.DefaultMaxFrame, negative 2 GiB.
	MaxFrame int
	// MaxDepth bounds how deep its JSON may nest; see codec.ScanOptions.
	MaxDepth int
	// Clock measures the pauses before a stream is taken up again; nil is the
	// system's.
	Clock engine.Clock
}

// NewWire makes a wire to t. Nothing is sent before the first message is. The error
// is an *OptionError.
func NewWire(t HTTP, o WireOptions) (*Wire, error) {
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
	if o.MaxFrame == 0 {
		o.MaxFrame = conn.DefaultMaxFrame
	} else if o.MaxFrame < 0 {
		o.MaxFrame = 1<<31 - 1
	}
	if o.Clock == nil {
		o.Clock = engine.SystemClock()
	}
	w := &Wire{t: t, o: o, client: t.Client, ended: make(chan struct{})}
	if w.client == nil {
		w.client = t.NewClient()
		w.own = w.client.Transport.(*http.Transport)
	}
	w.base, w.stop = context.WithCancel(context.Background())
	return w, nil
}

// Adopt says which revision messages are of from here on; "" says that it is not
// known (any more). A modern one repeats in headers what each request is.
func (w *Wire) Adopt(revision mcp.Revision) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.revision = revision
}

// Revision is what Adopt said last.
func (w *Wire) Revision() mcp.Revision {
	revision, _ := w.state()
	return revision
}

// Session is the session of the older era, by the server's name for it; "" without
// one.
func (w *Wire) Session() string {
	_, id := w.state()
	return id
}

func (w *Wire) state() (mcp.Revision, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.revision, w.session
}

func (w *Wire) setSession(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.session = id
}

// goOn starts a goroutine of the wire; false says that it has been closed.
func (w *Wire) goOn(f func()) bool {
	if !w.enter() {
		return false
	}
	go func() {
		defer w.work.Done()
		f()
	}()
	return true
}

// enter makes Close wait for work.Done, unless it was called.
func (w *Wire) enter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.work.Add(1)
	return true
}

// Close ends every request and the session, and returns when all of it is over:
// after HTTP.Goodbye at the latest. It may be called again, and returns nil.
func (w *Wire) Close() error {
	w.mu.Lock()
	session, first := w.session, !w.closed
	w.closed = true
	w.mu.Unlock()
	if !first {
		<-w.ended
		return nil
	}
	w.stop()
	w.goodbye(session)
	w.work.Wait()
	if w.own != nil {
		w.own.CloseIdleConnections()
	}
	close(w.ended)
	return nil
}

// goodbye ends the session at the server, which may not want to know.
func (w *Wire) goodbye(session string) {
	if session == "" || w.t.Goodbye < 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), w.t.Goodbye)
	defer cancel()
	req, err := w.newRequest(ctx, http.MethodDelete, nil)
	if err != nil {
		return
	}
	if resp, err := w.do(req); err == nil {
		discard(resp)
	}
}

// within bounds ctx by d, none if negative, with conn.ErrTimeout as its cause.
func (w *Wire) within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if d < 0 {
		return ctx, func() { cancel(nil) }
	}
	timer := w.o.Clock.AfterFunc(d, func() { cancel(conn.ErrTimeout) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}
