package gateway

import (
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/limit"
	"github.com/correlator-go/correlator/gateway/link"
)

// parking keeps the calls that wait for one way to be open, or to read on, in order.
// The backend's mu guards it.
type parking struct {
	calls []*waiting // nil where one has left
	left  int        // how many have
	at    int        // where the first one is, or none is before it
	pause time.Duration
}

func (p *parking) add(w *waiting) {
	w.place = len(p.calls)
	p.calls = append(p.calls, w)
}

// addFirst is for one that was taken out and goes back.
func (p *parking) addFirst(w *waiting) {
	if p.at == 0 {
		p.calls = append([]*waiting{nil}, p.calls...)
		for i, other := range p.calls {
			if other != nil {
				other.place = i
			}
		}
		p.at = 1
	}
	p.at--
	p.calls[p.at], w.place = w, p.at
}

func (p *parking) take() *waiting {
	for p.at < len(p.calls) {
		w := p.calls[p.at]
		p.calls[p.at] = nil
		p.at++
		if w != nil {
			return w
		}
	}
	*p = parking{pause: p.pause}
	return nil
}

func (p *parking) remove(w *waiting) {
	if w.place < len(p.calls) && p.calls[w.place] == w {
		p.calls[w.place] = nil
		p.left++
	}
	if p.left > 64 && p.left > len(p.calls)/2 {
		kept := p.calls[:0]
		for _, other := range p.calls[p.at:] {
			if other != nil {
				other.place = len(kept)
				kept = append(kept, other)
			}
		}
		clear(p.calls[len(kept):])
		p.calls, p.at, p.left = kept, 0, 0
	}
}

// The pause before a server is written to again that did not read doubles from the one
// to the other.
const (
	fullRetryMin = 250 * time.Microsecond
	fullRetryMax = 8 * time.Millisecond
)

// start sends a call that has its places, now or when the upstream is open and reads.
// w is nil if it has not waited.
func (b *backend) start(burst *link.Burst, c *call, m *codec.Message, edits []codec.Edit, w *waiting) {
	if l := b.live.Load(); l != nil && !b.full.Load() {
		b.send(l, burst, c, m, edits, w)
		return
	}
	if w == nil {
		w = newWaiting(b, c, m, edits)
	}
	if !w.hold(burst) {
		return
	}
	b.mu.Lock()
	l, refusal := b.live.Load(), (*Failure)(nil)
	switch {
	case l != nil && !b.full.Load():
	case b.ended:
		refusal = &Failure{Code: CodeStopping, Text: "the gateway is shutting down", Upstream: b.target.o.Name}
	case !b.placeLocked():
		refusal = b.busy("as many processes or connections of it are in use as maxWays allows")
	default:
		b.greeting.hear(b, c, m)
		b.parked.add(w)
		b.openLocked()
		l = nil
	}
	b.mu.Unlock()
	switch {
	case l == nil && refusal == nil:
		if c.giveUp.Load() != nil {
			c.withdraw()
		}
	case !w.withdraw(): // its time is over
	case refusal != nil:
		c.refuse(burst, refusal)
	default:
		b.send(l, burst, c, &w.message, w.edits, w)
	}
}

// hold has w wait for its upstream; false says that it may not, and was refused.
func (w *waiting) hold(burst *link.Burst) bool {
	c, t := w.call, w.backend.target
	w.at = held
	now := t.g.clock.Now()
	if t.gate.Hold(&w.tickets[held], c.session.limited, w, now, c.left(now)) != limit.Queued {
		c.refuse(burst, w.backend.busy("too many calls wait for it"))
		return false
	}
	t.g.watch(t.gate)
	return true
}

// unpark takes w out, if it is in.
func (b *backend) unpark(w *waiting) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parked.remove(w)
}

// back takes a call again that could not be written, ahead of all others.
func (b *backend) back(w *waiting) {
	w.call.number.Store(0)
	if !w.hold(nil) {
		return
	}
	b.mu.Lock()
	ended := b.ended
	if !ended {
		b.full.Store(true)
		b.parked.addFirst(w)
	}
	pause := min(max(fullRetryMin, 2*b.parked.pause), fullRetryMax)
	b.parked.pause = pause
	l := b.live.Load()
	b.mu.Unlock()
	switch {
	case ended:
		if w.withdraw() {
			w.call.fail(nil, Lost, &Failure{Code: CodeStopping, Text: "the gateway is shutting down", Upstream: b.target.o.Name})
		}
		return
	case w.call.giveUp.Load() != nil:
		w.call.withdraw()
	}
	if l != nil {
		b.target.g.clock.AfterFunc(pause, func() { b.resume(l) })
	}
}

// resume sends what waits for l, in order, until it reads no more or nothing waits.
func (b *backend) resume(l *life) {
	var burst link.Burst
	defer burst.Flush()
	for {
		b.mu.Lock()
		if b.live.Load() != l {
			b.mu.Unlock()
			return // what waits goes the next way
		}
		w := b.parked.take()
		if w == nil {
			b.full.Store(false)
			b.mu.Unlock()
			return
		}
		b.mu.Unlock()
		if !w.withdraw() {
			continue
		}
		if b.send(l, &burst, w.call, &w.message, w.edits, w) {
			return
		}
		b.mu.Lock()
		b.parked.pause = 0
		b.mu.Unlock()
	}
}

// failParked tells all that wait that the upstream was not opened.
func (b *backend) failParked(f *Failure) {
	var burst link.Burst
	defer burst.Flush()
	for {
		b.mu.Lock()
		if b.ended {
			b.opening = false
		}
		w := b.parked.take()
		b.mu.Unlock()
		if w == nil {
			return
		}
		if w.withdraw() {
			w.call.fail(&burst, Lost, f)
		}
	}
}
