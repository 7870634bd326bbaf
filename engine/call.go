package engine

import (
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
)

// Call is the handle of one registered call: a small value, to be copied at will.
// It stays valid for ever; once the outcome is consumed it names nothing and every
// use of it is harmless and says ErrConsumed. The zero Call is no call: its methods
// panic.
//
// NB: three words are as many as the compiler keeps in registers on the way from
// Begin to Wait, which is why a caller's id is not among them.
type Call[T any] struct {
	e     *Engine[T]
	ref   ref
	still *stillborn // of a call that a closed engine returned; ref is 0 then
}

// stillborn is a call of a closed engine: it has no slot.
type stillborn struct {
	id       codec.ID
	method   string
	consumed atomic.Bool
}

// ID is the id of the call. It is absent for a call that a closed engine's Begin
// returned; and with CallerIDs once the outcome is consumed, for the id may then
// name another call.
func (c Call[T]) ID() codec.ID {
	switch {
	case c.ref == 0:
		return c.still.id
	case c.e.index == nil:
		return c.ref.minted()
	}
	return c.e.keyIfKept(c.ref)
}

// Outcome returns the outcome, if the call is settled, without waiting, and
// consumes it. False means that it is still pending. When the outcome is not for
// the handle (consumed, owned by a Wait under way, by a callback, or discarded),
// it is true and Err is ErrConsumed, with Status Pending.
func (c Call[T]) Outcome() (Outcome[T], bool) {
	if c.ref == 0 {
		return c.e.stillbornOutcome(c.still), true
	}
	s := c.e.table.slot(c.ref.index())
	w := s.load()
	if w.attendable(c.ref.gen()) {
		return Outcome[T]{}, false
	}
	o := Outcome[T]{ID: c.ID(), Err: ErrConsumed}
	if w.is(c.ref.gen(), answered) || w.is(c.ref.gen(), ended) {
		if v, status, err := c.e.consume(s, c.ref, w); status != Pending {
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
	return c.e.cancel(c.e.table.slot(c.ref.index()), c.ref, err)
}

// Discard says that nobody will ask for the outcome: when the call settles, or if
// it has, its slot is free at once, and a channel that Done gave is closed now. It
// does not settle the call. It does nothing while a Wait is under way, and on a
// call with a callback.
func (c Call[T]) Discard() {
	if c.ref == 0 {
		c.still.consumed.Store(true)
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
			if e.dropSettling(s, c.ref, w) {
				return
			}
		case w.is(c.ref.gen(), answered), w.is(c.ref.gen(), ended):
			if _, status, _ := e.consume(s, c.ref, w); status != Pending {
				return
			}
		default:
			return
		}
	}
}

// stillborn is a call of a closed engine, already failed.
func (e *Engine[T]) stillborn(id codec.ID, o *CallOptions[T]) Call[T] {
	still := &stillborn{id: id, method: o.Method}
	still.consumed.Store(o.Discard)
	if o.Notify != nil {
		tk := e.free.hold()
		st := tk.stripe
		e.free.release(tk)
		outcome := e.stillbornOutcome(still)
		e.deliver(st, st.enter(), o.Notify, &outcome)
	}
	return Call[T]{e: e, still: still}
}

// stillbornOutcome consumes the outcome of a call of a closed engine.
func (e *Engine[T]) stillbornOutcome(c *stillborn) Outcome[T] {
	if c.consumed.Swap(true) {
		return Outcome[T]{ID: c.id, Err: ErrConsumed}
	}
	err := &CallError{ID: c.id, Method: c.method, Status: Failed, Err: e.Failure(), closed: true}
	return Outcome[T]{ID: c.id, Err: err, Status: Failed}
}
