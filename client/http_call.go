package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/mcp"
)

func (l *httpLink) call(ctx context.Context, r *request) ([]byte, error) {
	_, session := l.state()
	text, err := l.attempt(ctx, r)
	if !errors.Is(err, ErrSessionEnded) || r.method == mcp.MethodInitialize {
		return text, err
	}
	// The server did not serve the request, so that it is safe to send it again.
	limit := r.timeout
	if limit == 0 {
		limit = l.c.o.Timeout
	}
	renewing, cancel := l.within(ctx, limit)
	defer cancel()
	if failed := l.renew(renewing, session); failed != nil {
		return nil, fmt.Errorf("%w: %w", err, failed)
	}
	return l.attempt(ctx, r)
}

// renew begins a new session in the place of old, unless somebody did already.
func (l *httpLink) renew(ctx context.Context, old string) error {
	select {
	case l.renews <- struct{}{}:
		defer func() { <-l.renews }()
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.base.Done():
		return l.engine.Failure()
	}
	if _, now := l.state(); now != old {
		return nil
	}
	return l.c.initialize(ctx, l) // calls go on with the old session meanwhile, and come back here
}

// attempt sends a request once and waits for its end.
func (l *httpLink) attempt(ctx context.Context, r *request) ([]byte, error) {
	call, err := l.engine.Begin(ctx, engine.CallOptions[[]byte]{Method: r.method, Timeout: r.timeout, IdleTimeout: r.idle})
	if err != nil {
		return nil, err
	}
	if call.ID().IsAbsent() { // the link has ended, and so has the call
		return call.Wait(ctx)
	}
	r.id = call.ID()
	x := &exchange{link: l, r: r, id: r.id}
	if err := x.encode(); err != nil {
		call.Cancel(nil)
		call.Discard()
		return nil, fmt.Errorf("client: %s: params: %w", r.method, err)
	}
	// The request lives as long as somebody waits for it, and has the values of
	// the caller's context for whoever traces requests.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	l.open(x)
	l.goOn(func() { x.run(life) }) // if the link has ended, so has the call
	text, err := call.Wait(ctx)
	l.shut(x)
	if err != nil {
		l.abandon(x, err)
	}
	return text, err
}

// abandon tells a server of the older era that nobody waits for the answer any
// more; for a modern one the end of the request says so.
func (l *httpLink) abandon(x *exchange, err error) {
	lost, ok := errors.AsType[*engine.CallError](err)
	revision, _ := l.state()
	if !ok || !lost.Sent || lost.Status != engine.Expired && lost.Status != engine.Cancelled ||
		x.r.method == mcp.MethodInitialize || revision.IsModern() {
		return
	}
	params := append(x.id.Append([]byte(`{"requestId":`)), '}')
	l.goOn(func() {
		ctx, stop := context.WithTimeout(l.base, DefaultProbeTimeout)
		defer stop()
		_ = l.notify(ctx, mcp.NoteCancelled, params) // a courtesy: the call has ended either way
	})
}

// exchange is one request on its way.
type exchange struct {
	link  *httpLink
	r     *request
	id    codec.ID
	frame []byte
	sent  atomic.Bool
	feed
}

func (x *exchange) encode() error {
	params := x.r.params
	if x.r.progress != nil {
		var err error
		if params, err = codec.AppendParamsWithToken(nil, params, x.id); err != nil {
			return err
		}
	}
	x.frame = codec.AppendRequest(nil, x.id, x.r.method, params)
	return nil
}

// run sends the request and settles its call with what comes.
func (x *exchange) run(ctx context.Context) {
	err := x.post(ctx)
	if err == nil || ctx.Err() != nil {
		return // settled: by the answer, or by whoever ended ctx
	}
	if _, ok := errors.AsType[*codec.Error](err); !ok {
		age, _ := x.link.engine.Age(x.id)
		err = &engine.CallError{ID: x.id, Method: x.r.method, Status: engine.Failed, Sent: x.sent.Load(), Elapsed: age, Err: err}
	}
	x.link.engine.Reject(x.id, err)
}

// post sends the request and reads the response. It returns nil when the call was
// settled, else why it has to fail.
func (x *exchange) post(ctx context.Context) error {
	l := x.link
	return l.Exchange(ctx, &Posting{
		Method: x.r.method, Frame: x.frame, Headers: x.r.headers, Receive: x.receive,
		Written: func() {
			x.sent.Store(true)
			l.engine.Dispatch(x.id)
		},
		Heard: func() { l.engine.Touch(x.id) },
	})
}

// receive takes one message of the call's own response.
func (x *exchange) receive(m *codec.Message) (answered bool) {
	switch m.Kind {
	case codec.KindResult:
		// One request, one response: ids are not compared. What follows is late.
		x.link.engine.Resolve(x.id, bytes.Clone(m.Result()))
	case codec.KindError:
		x.link.engine.Reject(x.id, m.Err())
	default:
		x.link.other(m)
		return false
	}
	return true
}

// notify posts a notification, within the time of a call. Failures are those of one.
func (l *httpLink) notify(ctx context.Context, method string, params []byte) error {
	if err := l.engine.Failure(); err != nil {
		return err
	}
	ctx, cancel := l.within(ctx, l.c.o.Timeout)
	defer cancel()
	err := l.Post(ctx, &Posting{Method: method, Frame: codec.AppendNotification(nil, method, params)})
	_, answered := errors.AsType[*codec.Error](err)
	_, refused := errors.AsType[*HTTPError](err)
	if err == nil || answered || refused {
		return err
	}
	return fmt.Errorf("client: %s: %w", method, err)
}

// token is the number in a progress token of ours, which is the id of its call.
func token(raw []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil
}
