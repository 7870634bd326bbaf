package target

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/mcp"
)

// errNotGreeted is of calls before Shake.
var errNotGreeted = errors.New("target: the HTTP endpoint was not greeted yet")

// HTTPLink makes calls at a Streamable HTTP endpoint, each a request of its own on a
// goroutine of its own, by a client of package client. [Shake] makes that. It is a
// link as a connection is one, and counts as that does: the bytes and the writes
// are those of its sockets, headers and TLS included.
type HTTPLink struct {
	endpoint string
	options  client.Options
	web      *http.Transport
	traffic  traffic

	client atomic.Pointer[client.Client]
	closed atomic.Bool
	gone   atomic.Pointer[error] // why nobody can be reached any more
	mu     sync.RWMutex          // held to begin a call, and alone to close: none begins after that
	calls  sync.WaitGroup        // those that began and of whose end nobody was told yet

	registered, resolved, rejected, cancelled, expired, failed, progress atomic.Uint64
	failure                                                              atomic.Pointer[error]
}

// traffic counts what goes over sockets.
type traffic struct{ in, out, writes atomic.Uint64 }

type counted struct {
	net.Conn
	*traffic
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.in.Add(uint64(n))
	return n, err
}

func (c counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.out.Add(uint64(n))
	c.writes.Add(1)
	return n, err
}

func newHTTPLink(endpoint string, o conn.Options) *HTTPLink {
	l := &HTTPLink{endpoint: endpoint, web: http.DefaultTransport.(*http.Transport).Clone()}
	l.options = client.Options{Timeout: o.Timeout, Conn: conn.Options{MaxPending: o.MaxPending, Overflow: o.Overflow}}
	// A socket for each call in flight, kept, so that what is measured is calls.
	l.web.MaxIdleConns, l.web.MaxIdleConnsPerHost = o.MaxPending, o.MaxPending
	dial := l.web.DialContext
	l.web.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return counted{c, &l.traffic}, nil
	}
	return l
}

// greet finds out the era, unless o says it, and begins the session.
func (l *HTTPLink) greet(ctx context.Context, g Greeting) (Session, error) {
	o := l.options
	g.apply(&o)
	c, err := client.Connect(ctx, client.HTTP{Endpoint: l.endpoint, Client: &http.Client{Transport: l.web}}, o)
	if err != nil {
		return Session{}, err
	}
	l.client.Store(c)
	return sessionOf(c, nil), nil
}

// Call makes a call and waits for its end.
func (l *HTTPLink) Call(ctx context.Context, method string, params []byte, o conn.CallOptions) ([]byte, error) {
	if err := l.begin(); err != nil {
		return nil, err
	}
	defer l.calls.Done()
	outcome := l.call(ctx, method, params, o)
	return outcome.Value, outcome.Err
}

// Start makes a call whose outcome notify gets on a goroutine of its own. The id is
// always the zero one.
func (l *HTTPLink) Start(_ context.Context, method string, params []byte, o conn.CallOptions, notify func(conn.Outcome)) (codec.ID, error) {
	if err := l.begin(); err != nil {
		return codec.ID{}, err
	}
	params = bytes.Clone(params)
	go func() {
		defer l.calls.Done()
		notify(l.call(context.Background(), method, params, o))
	}()
	return codec.ID{}, nil
}

// Submit starts many calls.
func (l *HTTPLink) Submit(ctx context.Context, requests []conn.Request) (accepted int, err error) {
	for i := range requests {
		r := &requests[i]
		if _, err := l.Start(ctx, r.Method, r.Params, r.Options, r.Notify); err != nil {
			return i, err
		}
	}
	return len(requests), nil
}

// begin counts a call.
func (l *HTTPLink) begin() error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	err := l.Err()
	if err == nil && l.client.Load() == nil {
		err = errNotGreeted
	}
	if err != nil { // as a connection says that it took no call
		return &engine.CallError{Status: engine.Failed, Err: err}
	}
	l.calls.Add(1)
	l.registered.Add(1)
	return nil
}

// call carries out a call that begin counted.
func (l *HTTPLink) call(ctx context.Context, method string, params []byte, o conn.CallOptions) conn.Outcome {
	options := client.CallOptions{Timeout: o.Timeout, IdleTimeout: o.IdleTimeout}
	if o.Progress != nil {
		options.Progress = func(mcp.Progress) { l.progress.Add(1) }
	}
	result, err := l.client.Load().Call(ctx, method, params, options)
	outcome := outcomeOf(result, err)
	switch outcome.Status {
	case engine.Resolved:
		l.resolved.Add(1)
	case engine.Rejected:
		l.rejected.Add(1)
	case engine.Expired:
		l.expired.Add(1)
	case engine.Cancelled:
		l.cancelled.Add(1)
	default:
		l.failed.Add(1)
		if l.closed.Load() {
			break
		}
		l.failure.CompareAndSwap(nil, &err)
		if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
			l.gone.CompareAndSwap(nil, &err)
		}
	}
	return outcome
}

// lostError is of a call that failed for a reason of its own, while the endpoint is
// as it was. It unwraps to nothing: what it says is for people.
type lostError struct{ text string }

func (e lostError) Error() string { return e.text }

// outcomeOf says how a call ended, as a connection says it. A status without a
// JSON-RPC error is an answer all the same: the server refused.
func outcomeOf(result []byte, err error) conn.Outcome {
	if err == nil {
		return conn.Outcome{Value: result, Status: engine.Resolved}
	}
	if _, ok := errors.AsType[*codec.Error](err); ok {
		return conn.Outcome{Err: err, Status: engine.Rejected}
	}
	if e, ok := errors.AsType[*client.HTTPError](err); ok {
		return conn.Outcome{Err: &codec.Error{Code: int64(e.StatusCode), Message: e.Error()}, Status: engine.Rejected}
	}
	if e, ok := errors.AsType[*engine.CallError](err); ok && e.Status != engine.Failed {
		return conn.Outcome{Err: err, Status: e.Status}
	}
	return conn.Outcome{Err: lostError{err.Error()}, Status: engine.Failed}
}

// Stats counts as a connection does.
func (l *HTTPLink) Stats() conn.Stats {
	s := conn.Stats{
		BytesIn: l.traffic.in.Load(), BytesOut: l.traffic.out.Load(), Writes: l.traffic.writes.Load(), ProgressDelivered: l.progress.Load(),
	}
	s.Calls = engine.Stats{
		Resolved: l.resolved.Load(), Rejected: l.rejected.Load(), Cancelled: l.cancelled.Load(), Expired: l.expired.Load(), Failed: l.failed.Load(),
	}
	ended := s.Calls.Resolved + s.Calls.Rejected + s.Calls.Cancelled + s.Calls.Expired + s.Calls.Failed
	s.Calls.Registered = max(l.registered.Load(), ended)
	s.Calls.Pending = int(s.Calls.Registered - ended)
	s.FramesOut, s.FramesIn = s.Calls.Registered, s.Calls.Resolved+s.Calls.Rejected+s.ProgressDelivered
	return s
}

// Err is why the link ended: it was closed, or nobody can be reached at the endpoint
// any more. A call that is lost on an open socket does not end it.
func (l *HTTPLink) Err() error {
	if err := l.gone.Load(); err != nil {
		return *err
	}
	if l.closed.Load() {
		return conn.ErrClosed
	}
	return nil
}

// Lost is why the first call that was lost was, nil if none has been.
func (l *HTTPLink) Lost() error {
	if err := l.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// Close ends the calls in flight and the session, and waits for both.
func (l *HTTPLink) Close() error {
	l.mu.Lock()
	l.closed.Store(true)
	l.mu.Unlock()
	var err error
	if c := l.client.Load(); c != nil {
		err = c.Close()
	}
	l.calls.Wait()
	l.web.CloseIdleConnections()
	return err
}
