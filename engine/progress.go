package engine

import (
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/wheel"
)

// Touch starts the idle deadline of a pending call anew, for the peer has shown
// signs of life, and reports whether the call is still pending. The total deadline
// stays where it is (I4). On a call without an idle deadline it changes nothing.
func (e *Engine[T]) Touch(id codec.ID) bool {
	s, r, ok := e.find(id)
	if !ok {
		return false
	}
	for {
		w := s.load()
		if w.gen() != r.gen() || !w.live() {
			return false
		}
		d := e.table.dir.Load().details.at(r.index())
		if d == nil {
			return true
		}
		// These may be the next call's by now; then the swap fails. It never takes a
		// claim back, and the wheel learns of the later tick when it gets there.
		l := limits(d.limits.Load())
		if l.idle() == 0 {
			return true
		}
		now := e.now()
		tick := e.ticks.deadline(after(now, e.ticks.nanoseconds(l.idle())), now)
		if total := e.totalTick(r.index(), l, w, now); total != noTick && total.Before(tick) {
			tick = total
		}
		if tick == w.tick() || s.swap(w, w.withTick(tick)) {
			return true
		}
	}
}

// totalTick is the tick of a total deadline, as far as a tick can tell; noTick when
// there is none.
func (e *Engine[T]) totalTick(i uint32, l limits, w word, now int64) wheel.Tick {
	if l.far() {
		return e.ticks.deadline(e.table.farOf(i).Load(), now)
	}
	return l.total(w)
}

// Dispatch marks a pending call as handed to the peer, and reports whether it is
// still pending: if not, it need not be sent. To be called right before the
// request is written. Errors and settlements of the call say Sent from then on.
func (e *Engine[T]) Dispatch(id codec.ID) bool {
	s, r, ok := e.find(id)
	if !ok {
		return false
	}
	if e.observer != nil && s.sent.Load() != r.gen() {
		if w := s.load(); w.gen() != r.gen() || !w.live() {
			return false
		}
		// A call that ends and is followed by another between these lines leaves its
		// time to the next one, which stores its own when it is dispatched.
		e.table.dispatchOf(r.index()).Store(e.now())
	}
	// The mark comes first: whoever settles the call after the look at the word sees
	// it. A mark of a call that has ended is no call's.
	if w := s.load(); w.gen() != r.gen() || !w.live() {
		return false
	}
	s.sent.Store(r.gen())
	w := s.load()
	return w.gen() == r.gen() && w.live()
}
