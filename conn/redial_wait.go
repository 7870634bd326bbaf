package conn

import (
	"context"
	"errors"
	"time"

	"github.com/correlator-go/correlator/engine"
)

// ErrDown says that there is no connection and that the call was not to wait
// for one.
var ErrDown = errors.New("conn: no connection")

// connection gives a call the connection to go to and what is left of its
// options, waiting where it must.
func (r *Redialer) connection(ctx context.Context, method string, o CallOptions) (*Conn, CallOptions, error) {
	if c := r.Conn(); c != nil {
		return c, o, nil
	}
	w := waiter{r: r, method: method, begun: r.o.Clock.Now()}
	if o.NoWait {
		r.wake()
		return nil, o, w.failed(ErrDown)
	}
	w.budget = o.Timeout
	if w.budget == 0 {
		w.budget = r.o.WaitTimeout
	}
	c, err := w.wait(ctx)
	if err != nil {
		return nil, o, err
	}
	if o.Timeout > 0 {
		o.Timeout -= w.elapsed()
		if o.Timeout <= 0 {
			return nil, o, w.expired()
		}
	}
	return c, o, nil
}

// waiter is one call on its way to a connection.
type waiter struct {
	r      *Redialer
	method string
	begun  time.Duration
	budget time.Duration // negative: none
}

func (w *waiter) wait(ctx context.Context) (*Conn, error) {
	var out chan struct{} // nil waits for ever
	if w.budget > 0 {
		out = make(chan struct{})
		timer := w.r.o.Clock.AfterFunc(w.budget, func() { close(out) })
		defer timer.Stop()
	}
	for {
		c, l, err := w.r.enlist()
		if err != nil {
			return nil, w.failed(err)
		}
		if c != nil {
			return c, nil
		}
		select {
		case <-l.ready:
			w.r.leave()
		case <-ctx.Done():
			w.r.leave()
			return nil, w.left(ctx)
		case <-out:
			w.r.leave()
			return nil, w.expired()
		}
		if l.err != nil {
			return nil, w.failed(l.err)
		}
		if !l.conn.over() {
			return l.conn, nil
		}
	}
}

func (w *waiter) elapsed() time.Duration { return w.r.o.Clock.Now() - w.begun }

func (w *waiter) failed(err error) error {
	return &engine.CallError{Method: w.method, Status: engine.Failed, Elapsed: w.elapsed(), Err: err}
}

// expired carries the latest failed dial, which is why there was no connection.
func (w *waiter) expired() error {
	return &engine.CallError{
		Method: w.method, Status: engine.Expired, Budget: w.budget, Deadline: engine.DeadlineTotal,
		Elapsed: w.elapsed(), Err: w.r.latest(),
	}
}

// left is for a ctx that ended: by its own deadline, or cancelled.
func (w *waiter) left(ctx context.Context) error {
	e := &engine.CallError{Method: w.method, Status: engine.Cancelled, Elapsed: w.elapsed(), Err: context.Cause(ctx)}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Status, e.Deadline, e.Budget, e.Err = engine.Expired, engine.DeadlineContext, e.Elapsed, w.r.latest()
	}
	return e
}

// enlist counts the caller in as waiting and gives what it waits for, or the
// connection that came up just now: whoever enlists after publish would wait for
// the one after that.
func (r *Redialer) enlist() (*Conn, *link, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.Conn(); c != nil && !r.closed {
		return c, nil, nil
	}
	switch {
	case r.closed:
		return nil, nil, ErrClosed
	case r.waiting >= r.o.MaxWaiting:
		return nil, nil, waitingFull
	}
	r.waiting++
	r.wakeLocked()
	return nil, r.next, nil
}

func (r *Redialer) leave() {
	r.mu.Lock()
	r.waiting--
	r.mu.Unlock()
}

func (r *Redialer) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.wakeLocked()
	}
}

// wakeLocked sees to it that somebody dials.
func (r *Redialer) wakeLocked() {
	if !r.running {
		r.running = true
		go r.run()
	}
	select {
	case r.demand <- struct{}{}:
	default:
	}
}

func (r *Redialer) latest() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lastErr
}

// lostUnsent reports whether a failed call may go to the next connection: the
// peer cannot have seen it, and its own connection has ended. It also keeps
// other calls off that connection, whose end run has not seen yet.
func (r *Redialer) lostUnsent(c *Conn, err error) bool {
	sent, known := Sent(err)
	if sent || !known || !errors.Is(err, ErrClosed) || !c.over() {
		return false
	}
	r.current.CompareAndSwap(c, nil)
	return true
}

// after is what is left of the options once a call with them has failed.
func (o CallOptions) after(err error) CallOptions {
	if e, ok := errors.AsType[*engine.CallError](err); ok && o.Timeout > 0 {
		o.Timeout = max(o.Timeout-e.Elapsed, 1)
	}
	return o
}
