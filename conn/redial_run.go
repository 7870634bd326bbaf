package conn

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// DialError says that a Redialer could not make a connection. It unwraps to
// the error of RedialOptions.Dial or OnConnect.
type DialError struct {
	// Attempt counts the failed dials in a row, from 1.
	Attempt int
	// Err is why this one failed.
	Err error
}

// Error names the attempt and the reason.
func (e *DialError) Error() string { return fmt.Sprintf("conn: dial %d failed: %v", e.Attempt, e.Err) }

// Unwrap gives Err.
func (e *DialError) Unwrap() error { return e.Err }

// errDialTimeout is the cause of a dial's ctx when DialTimeout passes.
var errDialTimeout = fmt.Errorf("conn: dial took too long: %w", context.DeadlineExceeded)

// run dials, watches and dials again until Close. It is the only goroutine
// that dials, so there is never more than one dial.
func (r *Redialer) run() {
	defer close(r.done)
	failed := 0 // dials in a row
	unrest := 0 // failed dials and short-lived connections in a row
	first := true
	for {
		if !r.demanded(first) || !r.pause(r.o.Backoff.delay(unrest, r.o.Random)) {
			return
		}
		first = false
		c, err := r.dial()
		if err != nil {
			failed++
			unrest++
			r.report(&DialError{Attempt: failed, Err: err})
			continue
		}
		if !r.publish(c) {
			_ = c.Close()
			r.down(c)
			return
		}
		failed = 0
		up := r.o.Clock.Now()
		if !r.watch(c) {
			return
		}
		if unrest++; r.o.Clock.Now()-up >= r.o.Backoff.Stable {
			unrest = 0
		}
	}
}

// demanded waits until a connection is wanted; false says closed.
func (r *Redialer) demanded(first bool) bool {
	if !first && !r.o.OnDemand {
		return true
	}
	for {
		r.mu.Lock()
		wanted := first || r.waiting > 0
		r.mu.Unlock()
		if wanted {
			return true
		}
		select {
		case <-r.demand:
			first = true
		case <-r.closing:
			return false
		}
	}
}

// pause waits for d; false says closed.
func (r *Redialer) pause(d time.Duration) bool {
	over := make(chan struct{})
	if d <= 0 {
		close(over)
	} else {
		timer := r.o.Clock.AfterFunc(d, func() { close(over) })
		defer timer.Stop()
	}
	select {
	case <-r.closing:
		return false
	default:
	}
	select {
	case <-over:
		return true
	case <-r.closing:
		return false
	}
}

// dial makes one connection, handshake included, within DialTimeout.
func (r *Redialer) dial() (*Conn, error) {
	ctx, cancel := context.WithCancelCause(r.ctx)
	defer cancel(nil)
	if r.o.DialTimeout > 0 {
		timer := r.o.Clock.AfterFunc(r.o.DialTimeout, func() { cancel(errDialTimeout) })
		defer timer.Stop()
	}
	var c *Conn
	err := r.guard("Dial", func() (err error) {
		c, err = r.o.Dial(ctx)
		return err
	})
	switch {
	case err == nil && c == nil:
		return nil, errors.New("conn: RedialOptions.Dial gave neither a connection nor an error")
	case err == nil && r.o.OnConnect != nil:
		if err = r.guard("OnConnect", func() error { return r.o.OnConnect(ctx, c) }); err != nil {
			_ = c.Close()
		}
	}
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errDialTimeout) {
			err = fmt.Errorf("%w (%w)", err, cause)
		}
		return nil, err
	}
	return c, nil
}

// report tells everybody who waits of a failed dial, or lets them wait on.
func (r *Redialer) report(err *DialError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastErr = err
	patience := r.o.Attempts
	if patience == 0 && !r.connected {
		patience = 1
	}
	if patience > 0 && err.Attempt >= patience && !r.closed {
		r.settleLocked(nil, err)
	}
}

// publish hands the connection to everybody who waits; false says closed.
func (r *Redialer) publish(c *Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.connected, r.lastErr = true, nil
	r.current.Store(c)
	r.settleLocked(c, nil)
	return true
}

// watch sees the connection to its end; false says closed. It does not wait for
// Done: a child that lives on may take its time to be reaped.
func (r *Redialer) watch(c *Conn) bool {
	open := true
	select {
	case <-c.cut:
	case <-r.closing:
		open = false
		_ = c.Close()
		<-c.cut // where somebody else is closing it too
	}
	r.current.CompareAndSwap(c, nil)
	r.down(c)
	return open
}

func (r *Redialer) down(c *Conn) {
	if r.o.OnDown != nil {
		_ = r.guard("OnDown", func() error {
			r.o.OnDown(c.Err())
			return nil
		})
	}
}

// guard runs a hook. A panic in it is its error.
func (r *Redialer) guard(name string, hook func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("conn: RedialOptions.%s panicked: %v", name, v)
			if r.o.OnPanic != nil {
				r.o.OnPanic(v, debug.Stack())
			}
		}
	}()
	return hook()
}
