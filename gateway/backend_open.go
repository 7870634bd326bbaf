package gateway

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/correlator-go/correlator/gateway/link"
)

func sessionName(number uint64) string { return "#" + strconv.FormatUint(number, 10) }

// openLocked sees to it that the upstream is being opened.
func (b *backend) openLocked() {
	if b.opening || b.ended || b.live.Load() != nil {
		return
	}
	b.opening = true
	b.target.work.Go(func() { b.open(0) })
}

// open opens the upstream, again and again until it is open or the backend ends.
// failures is how often it failed in a row, or was lost too soon.
func (b *backend) open(failures int) {
	b.awaitLeaving()
	for {
		if failures > 0 && !b.pause(b.backoff(failures)) {
			b.failParked(&Failure{Code: CodeStopping, Text: "the gateway is shutting down", Upstream: b.target.o.Name})
			b.leavePlace()
			return
		}
		l, err := b.try()
		if err == nil && b.publish(l, failures) {
			return
		}
		if err == nil {
			err = l.whyGone()
		}
		failures++
		if b.ctx.Err() == nil { // else it is not wanted any more
			b.target.g.counts.openFailed.Add(1)
			b.target.g.observe(&Event{Kind: UpstreamDown, Upstream: b.target.o.Name, Err: err})
		}
		b.failParked(&Failure{
			Code: CodeUpstreamLost, Text: fmt.Sprintf("upstream %q could not be opened: %s", b.target.o.Name, words(err)),
			Upstream: b.target.o.Name, RetryAfter: b.backoff(failures),
		})
	}
}

// backoff is the pause after so many failures: half of it fixed, half at random.
func (b *backend) backoff(failures int) time.Duration {
	o := &b.target.o
	d := o.BackoffMin
	for i := 1; i < failures && d < o.BackoffMax; i++ {
		d *= 2
	}
	if d = min(d, o.BackoffMax); d <= 0 {
		return 0
	}
	return d/2 + time.Duration(b.target.g.o.Random()*float64(d/2))
}

// pause waits; false says that the backend has ended.
func (b *backend) pause(d time.Duration) bool {
	over := make(chan struct{})
	timer := b.target.g.clock.AfterFunc(d, func() { close(over) })
	defer timer.Stop()
	select {
	case <-over:
		return true
	case <-b.ctx.Done():
		return false
	}
}

// try opens the upstream, its handshake included: once, or again where it did not
// outlive the first question.
func (b *backend) try() (*life, error) {
	l, err := b.tryOnce()
	if errors.Is(err, errUnasked) && b.ctx.Err() == nil {
		return b.tryOnce()
	}
	return l, err
}

func (b *backend) tryOnce() (*life, error) {
	ctx, cancel := b.ctx, context.CancelFunc(func() {})
	if b.target.o.OpenTimeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, b.target.o.OpenTimeout)
	}
	defer cancel()
	l := &life{b: b, going: make(chan struct{}), gone: make(chan struct{})}
	up, err := b.target.o.Opener.Open(ctx, l, b.key)
	if err != nil {
		return nil, err
	}
	l.up = up
	if s, ok := up.(link.Streamer); ok {
		l.streams = s.Streams()
	}
	if !b.target.o.Plain {
		if err := b.shake(ctx, l); err != nil {
			up.End(err)
			<-l.gone
			return nil, err
		}
	}
	return l, nil
}

// publish makes l the way for all calls, after those that waited, which keep their
// order. False says that it has gone already.
func (b *backend) publish(l *life, failures int) bool {
	b.mu.Lock()
	if l.isGone() {
		b.mu.Unlock()
		return false
	}
	if b.ended {
		b.mu.Unlock()
		l.up.End(ErrClosed)
		<-l.gone
		return false
	}
	l.failures, l.since = failures, b.target.g.clock.Now()
	b.opening = false
	b.used(l.since)
	b.full.Store(true) // until those that waited have gone ahead
	b.live.Store(l)
	b.watchLocked(l, b.target.o.IdleAfter)
	b.mu.Unlock()
	b.noteAll(l)
	b.hub.reopened()
	b.levels.changed()
	b.target.returned()
	b.target.g.counts.opened.Add(1)
	b.target.g.observe(&Event{Kind: UpstreamUp, Upstream: b.target.o.Name})
	b.resume(l)
	return true
}

// lost is told by a way that has gone. The calls that it carried have failed when it
// returns, before any other way is opened.
func (b *backend) lost(l *life, why error) {
	b.mu.Lock()
	l.why = why
	close(l.going)
	was := b.live.CompareAndSwap(l, nil)
	again, reason := was && !b.ended, b.why
	if again {
		b.opening = true
		b.target.work.Add(1) // while close cannot have waited yet
	}
	if was && b.idle != nil {
		b.idle.Stop()
	}
	b.mu.Unlock()
	b.dropAsks(l)
	b.failAll(why)
	b.claims.forget()
	g := b.target.g
	switch {
	case again:
		g.observe(&Event{Kind: UpstreamDown, Upstream: b.target.o.Name, Err: why})
	case was:
		g.observe(&Event{Kind: UpstreamEnded, Upstream: b.target.o.Name, Err: reason})
		b.leavePlace()
	}
	close(l.gone) // who waits for the end has been told of all before it
	if !again {
		return
	}
	failures := 1
	if stable := b.target.o.BackoffStable; g.clock.Now()-l.since < stable {
		failures = l.failures + 1
	}
	go func() {
		defer b.target.work.Done()
		b.open(failures)
	}()
}

// close ends the backend and every call on it.
func (b *backend) close(why error) {
	b.mu.Lock()
	b.ended, b.why = true, why
	b.dead.Store(true)
	l := b.live.Load()
	if b.idle != nil {
		b.idle.Stop()
	}
	b.mu.Unlock()
	b.stop()
	b.failParked(&Failure{Code: CodeStopping, Text: "the gateway is shutting down", Upstream: b.target.o.Name})
	b.failAll(why)
	b.engine.FailAll(why, true)
	if l != nil {
		b.target.work.Go(func() {
			l.up.End(why)
			<-l.gone
		})
	}
}

// life is a way to an upstream from when it is opened until it has gone.
type life struct {
	b        *backend
	up       link.Upstream
	streams  bool          // each call has a stream of its own
	failures int           // that went before it
	since    time.Duration // when it was published
	going    chan struct{} // closed when why is known
	gone     chan struct{} // closed when its calls have failed, too
	why      error         // guarded by b.mu until going is closed
}

var _ link.Owner = (*life)(nil)

var errUnknown = errors.New("gateway: the upstream has gone")

func (l *life) isGone() bool {
	select {
	case <-l.going:
		return true
	default:
		return false
	}
}

func (l *life) whyGone() error {
	if !l.isGone() || l.why == nil {
		return errUnknown
	}
	return l.why
}

// Gone implements link.Owner.
func (l *life) Gone(err error) { l.b.lost(l, err) }
