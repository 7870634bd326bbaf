package conn

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
)

// Redialer is a Caller over a connection that it makes when it is first needed
// and makes again whenever it is lost. Calls that were pending on a lost
// connection fail; new ones, and those of which nothing was written yet, wait
// for the next connection. Only one dial runs at a time, whoever waits. It is
// safe for concurrent use.
//
//	idle ──first use──▶ dialling ──▶ up ──lost──▶ pausing ──▶ dialling …
//	                       └──failed──▶ pausing ─────┘
//
// A connection is lost when it ends: by the peer, by the system, by a failed
// keep-alive. A call that times out is no reason.
type Redialer struct {
	o       RedialOptions
	ctx     context.Context // of the dials; ended by Close
	cancel  context.CancelCauseFunc
	closing chan struct{}
	done    chan struct{} // closed when run has returned, or never began
	demand  chan struct{} // holds one token: somebody waits

	current atomic.Pointer[Conn] // what calls use; nil while there is none

	mu        sync.Mutex // protects the fields below
	closed    bool
	running   bool
	connected bool // there was a connection once
	waiting   int
	next      *link // what waiting calls wait for
	lastErr   error // of the latest failed dial since the last connection
}

// link is one wait: it ends with a connection or with an error.
type link struct {
	ready chan struct{}
	conn  *Conn // set before ready is closed
	err   error
}

// NewRedialer checks the options; nothing is dialled before the first use. The
// error is an *OptionError.
func NewRedialer(o RedialOptions) (*Redialer, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Redialer{
		o:       o,
		closing: make(chan struct{}),
		done:    make(chan struct{}),
		demand:  make(chan struct{}, 1),
		next:    newLink(),
	}
	r.ctx, r.cancel = context.WithCancelCause(context.Background())
	return r, nil
}

func newLink() *link { return &link{ready: make(chan struct{})} }

// Call is Conn.Call on the current connection, or on the next one once that is
// there. o.Timeout, if set, counts from now, waiting included. A call that
// never met a connection fails with an *engine.CallError that was not sent:
// expired or cancelled by its own time and ctx, or failed with *DialError, with
// ErrFull, or with ErrClosed after Close. o.NoWait waits for
// nothing: ErrDown while there is no connection.
func (r *Redialer) Call(ctx context.Context, method string, params []byte, o CallOptions) ([]byte, error) {
	for {
		c, left, err := r.connection(ctx, method, o)
		if err != nil {
			return nil, err
		}
		result, err := c.Call(ctx, method, params, left)
		if err == nil || !r.lostUnsent(c, err) {
			return result, err
		}
		o = left.after(err)
	}
}

// Start is Conn.Start. Without a connection it waits for the next one like
// Call, so from a callback, which must not block, set o.NoWait. A call that was
// begun is not carried over to another connection.
func (r *Redialer) Start(ctx context.Context, method string, params []byte, o CallOptions, notify func(Outcome)) (codec.ID, error) {
	c, left, err := r.connection(ctx, method, o)
	if err != nil {
		return codec.ID{}, err
	}
	return c.Start(ctx, method, params, left, notify)
}

// Notify is Conn.Notify. Without a connection it waits for the next one, at
// most RedialOptions.WaitTimeout.
func (r *Redialer) Notify(ctx context.Context, method string, params []byte) error {
	c, _, err := r.connection(ctx, method, CallOptions{})
	if err != nil {
		return err
	}
	return c.Notify(ctx, method, params)
}

// Connect waits for a connection, dialling if there is none, and returns it.
// The connection is the Redialer's: use it while it lasts, do not close it.
func (r *Redialer) Connect(ctx context.Context) (*Conn, error) {
	c, _, err := r.connection(ctx, "", CallOptions{})
	return c, err
}

// Conn is the current connection, nil while there is none.
func (r *Redialer) Conn() *Conn {
	if c := r.current.Load(); c != nil && !c.over() {
		return c
	}
	return nil
}

// Close closes the current connection as Conn.Close does, ends a dial that is
// under way and fails all waiting calls. A dial that succeeds all the same has
// its connection closed. Later calls fail. It is safe to call more than once
// and from the hooks.
func (r *Redialer) Close() error {
	r.mu.Lock()
	first := !r.closed
	r.closed = true
	if first {
		close(r.closing)
		r.settleLocked(nil, ErrClosed)
		if !r.running {
			close(r.done)
		}
	}
	r.mu.Unlock()
	r.cancel(ErrClosed)
	if c := r.current.Load(); c != nil {
		return c.Close()
	}
	return nil
}

// Done is closed once Close was called and the last dial and hook have
// returned.
func (r *Redialer) Done() <-chan struct{} { return r.done }

// settleLocked ends the wait of everybody who waits now, and with it the demand
// that they raised.
func (r *Redialer) settleLocked(c *Conn, err error) {
	select {
	case <-r.demand:
	default:
	}
	r.next.conn, r.next.err = c, err
	close(r.next.ready)
	r.next = newLink()
}
