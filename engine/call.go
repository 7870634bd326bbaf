package engine

import (
	"github.com/correlator-go/correlator/codec"
)

// Call is the handle of one registered call: a small value, to be copied at will.
// It stays valid for ever; once the outcome is consumed it names nothing and every
// use of it is harmless and says ErrConsumed. The zero Call is no call: its methods
// panic.
type Call[T any] struct {
	e   *Engine[T]
	ref ref      // 0: a call of a closed engine
	id  codec.ID // of callers' ids
}

// ID is the id of the call. It is absent for a call that a closed engine's Begin
// returned.
func (c Call[T]) ID() codec.ID {
	if c.ref == 0 || c.e.index != nil {
		return c.id
	}
	return c.ref.minted()
}

// Outcome returns the outcome, if the call is settled, without waiting, and
// consumes it. False means that it is still pending. When the outcome is not for
// the handle (consumed, owned by a Wait under way, by a callback, or discarded),
// it is true and Err is ErrConsumed, with Status Pending.
func (c Call[T]) Outcome() (Outcome[T], bool) {
	if c.ref == 0 {
		return c.stillbornOutcome(), true
	}
	s := c.e.table.slot(c.ref.index())
	w := s.load()
	if w.attendable(c.ref.gen()) {
		return Outcome[T]{}, false
	}
	o := Outcome[T]{ID: c.ID(), Err: ErrConsumed}
	if w.is(c.ref.gen(), answered) || w.is(c.ref.gen(), ended) {
		if v, err, status := c.e.consume(s, c.ref, w); status != Pending {
			o.Value, o.Err, o.Status = v, err, status
		}
	}
	return o, true
}

// Cancel settles the call as cancelled, see [Engine.Cancel].
func (c Call[T]) Cancel(err error) bool {
	if c.ref == 0 {
		return false
	}
	return c.e.settle(c.e.table.slot(c.ref.index()), c.ref, ending{err: err, status: Cancelled})
}

// Discard says that nobody will ask for the outcome: when the call settles, or if
// it has, its slot is free at once, and a channel that Done gave is closed now. It
// does not settle the call. It does nothing while a Wait is under way, and on a
// call with a callback.
func (c Call[T]) Discard() {
	if c.ref == 0 {
		return
	}
	e, s := c.e, c.e.table.slot(c.ref.index())
	for {
		w := s.load()
		switch {
		case w.is(c.ref.gen(), pending), w.is(c.ref.gen(), watched):
			var done *doneChan
			if w.state() == watched {
				done = e.table.parkerOf(c.ref.index()).done.Load()
			}
			if s.swap(w, w.with(discarded)) {
				if done != nil {
					e.table.parkerOf(c.ref.index()).done.CompareAndSwap(done, nil)
					close(done.ch)
				}
				return
			}
		case w.attendable(c.ref.gen()) && w.state()&parkedBit == 0:
			// Settling: attend as a waiter, the outcome is on its way.
			_, _ = e.wait(nil, s, c.ref)
			return
		case w.is(c.ref.gen(), answered), w.is(c.ref.gen(), ended):
			if _, _, status := e.consume(s, c.ref, w); status != Pending {
				return
			}
		default:
			return
		}
	}
}

// stillbornOutcome is the outcome of a call of a closed engine.
func (c Call[T]) stillbornOutcome() Outcome[T] {
	err := &CallError{ID: c.id, Status: Failed, Err: c.e.Failure(), closed: true}
	return Outcome[T]{ID: c.id, Err: err, Status: Failed}
}
