package conn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

var background = context.Background()

// How a connection ends. The first reason wins; the later ones only find it
// ending.
//
//	    Close            the reader's end       a failed write       keep-alive, handshake
//	      │                     │                     │                     │
//	flush, linger        fail calls, let        let the reader              │
//	      │              answers out, flush     end first                   │
//	      └─────────────────────┴──────────┬──────────┴─────────────────────┘
//	                                       ▼
//	   cut ──▶ close the stream ──▶ fail calls ──▶ end contexts ──▶ OnClose ──▶ done
//
// Every wait on the way is bounded by CloseTimeout, but for a child process,
// which has times of its own.
type ending uint8

const (
	endByCaller ending = iota // Close
	endByPeer                 // the reader met the end of the stream, or an error
	endByWrite                // a write failed
	endAtOnce                 // the peer is silent, or the handshake failed
)

// Close ends the connection: nothing is taken any more, what is queued goes
// out, answers that are on the way still count, then the stream is closed and
// the rest fails with ErrClosed. It waits at most Options.CloseTimeout in all,
// unless closing the stream itself takes longer, as it may for a child process.
//
// Close may be called again, at once from many goroutines, and from callbacks,
// OnClose included; it always returns nil. When it returns the stream is being
// closed; Done says when everything has ended.
func (c *Conn) Close() error {
	c.end(ErrClosed, endByCaller)
	<-c.parted
	return nil
}

// Drain stops taking: new calls fail with ErrDraining, new requests of the peer
// are answered -32603. It waits until nothing is in flight in either direction
// or ctx ends, and then closes. The error is that of ctx, if it ended first.
func (c *Conn) Drain(ctx context.Context) error {
	c.draining.Store(true)
	err := c.drained(ctx)
	_ = c.Close()
	return err
}

// drainPoll is the longest pause between two looks of Drain: short beside any
// answer worth draining for, and 50 looks a second cost nothing.
const drainPoll = 20 * time.Millisecond

// drained polls the table, which tells nobody when it becomes empty: telling
// would cost every call.
func (c *Conn) drained(ctx context.Context) error {
	pause := time.Millisecond
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		if c.engine.Len() == 0 && c.serving.count() == 0 {
			return nil
		}
		select {
		case <-c.cut:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
			pause = min(2*pause, drainPoll)
			timer.Reset(pause)
		}
	}
}

// Done is closed when the connection has ended: the stream is closed, every
// call has failed, OnClose has returned and both goroutines are gone. Handlers
// may still run; their contexts have ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err is nil while the connection is up, then why it ended: ErrClosed after
// Close, *PeerGone when the peer went, *codec.FrameError when the stream could
// not be read on, *PeerSilent, ErrHandshake, or a write error.
func (c *Conn) Err() error {
	select {
	case <-c.parted:
		return c.why
	default:
		return nil
	}
}

// over reports whether the connection is ending or has ended.
func (c *Conn) over() bool { return c.closing.Load() }

func (c *Conn) cutOff() bool {
	select {
	case <-c.cut:
		return true
	default:
		return false
	}
}

// closedError is what a call fails with that comes too late.
func (c *Conn) closedError() error {
	why := c.Err()
	if why == nil || errors.Is(why, ErrClosed) {
		return ErrClosed
	}
	return fmt.Errorf("%w: %w", ErrClosed, why)
}

// end is the one way in which a connection ends.
func (c *Conn) end(why error, how ending) {
	if !c.closing.CompareAndSwap(false, true) {
		return
	}
	c.watch.stop()
	limit := time.NewTimer(c.o.CloseTimeout)
	defer limit.Stop()
	switch how {
	case endByCaller:
		c.settleOut(limit.C)
	case endByPeer:
		c.part(why)
		c.engine.FailAll(why, true)
		if clean(why) {
			c.letAnswersOut(limit.C)
		}
	case endByWrite:
		// What the peer said before it went still counts, and says better why.
		select {
		case <-c.readOver:
			why = c.readErr
		case <-limit.C:
			if x, ok := c.stream.(explainer); ok {
				why = x.explain(why)
			}
		}
	}
	if how != endByPeer {
		c.part(why)
	}
	if how != endByCaller {
		// No answer is hoped for; and a child's stream may take long to close.
		c.engine.FailAll(why, true)
	}
	close(c.cut)
	c.closeStream(why)
	c.engine.FailAll(why, true)
	c.serving.endAll()
	c.leave()
}

// closeStream closes the stream. Calls do not wait for one that hangs in its
// Close; only a child has its say for as long as it takes to end.
func (c *Conn) closeStream(why error) {
	if _, child := c.stream.(explainer); !child {
		late := time.AfterFunc(c.o.CloseTimeout, func() { c.engine.FailAll(why, true) })
		defer late.Stop()
	}
	_ = c.stream.Close()
}

// part says why, for Err and for whoever else closes. From here on end may run
// callbacks, which may call Close: that must not wait for what comes after.
func (c *Conn) part(why error) {
	c.why = why
	close(c.parted)
}

// clean reports whether the stream ended between two frames: then the peer may
// only have closed its side and still read.
func clean(err error) bool {
	return errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF)
}

// leave notes that the reader, the writer or the closer has ended. The last one
// tells everybody.
func (c *Conn) leave() {
	if c.parts.Add(-1) > 0 {
		return
	}
	if c.o.OnClose != nil {
		c.guard(func() { c.o.OnClose(c.why) })
	}
	close(c.done)
}

// settleOut lets the queue out, tells the peer that nothing follows, and takes
// the answers that are on the way.
func (c *Conn) settleOut(limit <-chan time.Time) {
	if !c.flushWithin(limit) {
		return
	}
	if half, ok := c.stream.(halfCloser); ok {
		_ = half.CloseWrite()
	}
	quiet := time.NewTicker(c.o.CloseQuiet)
	defer quiet.Stop()
	for left := c.engine.Len(); left > 0; {
		select {
		case <-c.readOver:
			return
		case <-limit:
			return
		case <-quiet.C:
			now := c.engine.Len()
			if now == left {
				return
			}
			left = now
		}
	}
}

// letAnswersOut gives the handlers time to answer what came before the end, unless a
// write has failed: the peer has not only said all that it wants, it has gone.
func (c *Conn) letAnswersOut(limit <-chan time.Time) {
	idle := c.serving.whenIdle()
	if c.o.Relay != nil {
		idle = c.relayIdle()
	}
	select {
	case <-idle:
		c.flushWithin(limit)
	case <-c.writeOver:
	case <-limit:
	}
}

// flushWithin waits until what is queued was written; false says that the time
// is over.
func (c *Conn) flushWithin(limit <-chan time.Time) bool {
	select {
	case <-c.whenWritten():
		return true
	case <-c.writeOver:
		return false
	case <-limit:
		return false
	}
}
