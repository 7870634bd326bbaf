package gateway

import (
	"errors"
	"time"
)

// A way to a server takes a place among Upstream.MaxWays from when it is wanted until
// the server has gone and is not wanted any more, and gives it back when it has had
// nothing to do for Upstream.IdleAfter: the server is ended, and started again for the
// next call. What the gateway knows of the way, its numbers and what its client said
// of itself above all, outlives that.
//
//	unused ──call──▶ placed ──idle──▶ resting ──server gone──▶ unused
//	                   ▲                 └──call──▶ placed, when the server is gone
//	                   └──lost, opened again

var errIdle = errors.New("gateway: nothing to do")

// placeLocked takes a place for b, if it has none; false says that there is none.
func (b *backend) placeLocked() bool {
	if b.placed {
		return true
	}
	t := b.target
	if n := t.ways.Add(1); t.o.MaxWays > 0 && n > int64(t.o.MaxWays) {
		t.ways.Add(-1)
		return false
	}
	b.placed = true
	return true
}

// leavePlaceLocked gives the place back, unless the way is wanted.
func (b *backend) leavePlaceLocked() {
	if b.placed && !b.opening && b.live.Load() == nil && b.leaving == nil {
		b.placed = false
		b.target.ways.Add(-1)
	}
}

func (b *backend) leavePlace() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.leavePlaceLocked()
}

// used notes that the way is about to be used. Who uses it does so before it looks at
// live, and who ends it takes live away before it looks at lastUse: one of them sees
// the other.
func (b *backend) used(now time.Duration) { b.lastUse.Store(int64(now)) }

// watchLocked looks after IdleAfter whether l still has something to do.
func (b *backend) watchLocked(l *life, after time.Duration) {
	if b.target.o.IdleAfter > 0 && !b.ended {
		b.idle = b.target.g.clock.AfterFunc(after, func() { b.rest(l) })
	}
}

// rest ends l if it has had nothing to do for long enough.
func (b *backend) rest(l *life) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended || !b.live.CompareAndSwap(l, nil) {
		return
	}
	quiet := b.target.g.clock.Now() - time.Duration(b.lastUse.Load())
	left := b.target.o.IdleAfter - quiet
	if b.engine.Len() > 0 || len(b.asks) > 0 || b.isListenedTo() {
		left = b.target.o.IdleAfter
	}
	if left > 0 {
		b.live.Store(l)
		b.watchLocked(l, left)
		return
	}
	b.leaving = l
	b.target.work.Go(func() {
		l.up.End(errIdle)
		<-l.gone
		b.mu.Lock()
		b.leaving = nil
		b.leavePlaceLocked()
		b.mu.Unlock()
		b.target.g.observe(&Event{Kind: UpstreamEnded, Upstream: b.target.o.Name, Err: errIdle})
	})
}

// isListenedTo reports whether somebody waits for what the server says on its own, or may:
// a way on which resources were subscribed to counts until it is lost.
func (b *backend) isListenedTo() bool {
	if b.subscribed.Load() {
		return true
	}
	return b.hub.interest.Load() > 0 // the hub's lock is taken before this way's
}

// awaitLeaving waits for the server of before, so that there are never two.
func (b *backend) awaitLeaving() {
	b.mu.Lock()
	l := b.leaving
	b.mu.Unlock()
	if l != nil {
		<-l.gone
	}
}

// Ways is how many ways to each upstream have a server, or are on their way to one.
func (g *Gateway) Ways() map[string]int {
	targets := g.plan.Load().targets
	out := make(map[string]int, len(targets))
	for name, t := range targets {
		out[name] = int(t.ways.Load())
	}
	return out
}
