package engine

import (
	"errors"
	"time"

	"github.com/correlator-go/correlator/codec"
)

// Reject settles the call of id with the peer's error, as Resolve does with a
// result. Waiters and callbacks get err as it is; nil stands for an error without
// content.
func (e *Engine[T]) Reject(id codec.ID, err error) bool {
	if err == nil {
		err = errRejected
	}
	s, r, ok := e.find(id)
	if ok && e.pending(s, r) && e.settle(s, r, &ending{err: err, at: e.now(), status: Rejected}) {
		return true
	}
	if e.matchText {
		if other, ok := e.sameText(id); ok {
			return e.Reject(other, err)
		}
	}
	if e.index != nil {
		e.count(e.missKeyed(e.index.hash(id), r, ok))
	} else {
		e.count(e.miss(s, r))
	}
	return false
}

var errRejected = errors.New("engine: rejected without an error")

// Cancel settles the call of id as cancelled; err may be nil or say why. It
// reports whether it was the one that settled it. Nothing is sent to the peer but
// what Options.OnAbandon does.
func (e *Engine[T]) Cancel(id codec.ID, err error) bool {
	s, r, ok := e.find(id)
	return ok && e.cancel(s, r, err)
}

func (e *Engine[T]) cancel(s *slot[T], r ref, err error) bool {
	return e.pending(s, r) && e.settle(s, r, &ending{err: err, at: e.now(), status: Cancelled})
}

// pending is a look before the work of settling a call; only a claim decides.
func (e *Engine[T]) pending(s *slot[T], r ref) bool {
	w := s.load()
	return w.gen() == r.gen() && w.live()
}

// settle ends a call without a value, if it can claim it.
func (e *Engine[T]) settle(s *slot[T], r ref, end *ending) bool {
	w, won := s.claim(r.gen())
	if won {
		if end.status != Rejected {
			s.unanswered.Store(r.gen())
		}
		e.count(endingCounter[end.status])
		e.finish(s, r, w.state(), end)
	}
	return won
}

// finish ends without a value the call that the caller has claimed. The caller has
// counted it, and marked it unanswered right after the claim unless it was rejected.
func (e *Engine[T]) finish(s *slot[T], r ref, found state, end *ending) {
	if found == callback {
		e.finishCallback(s, r, end)
		return
	}
	var told Settlement
	e.conclude(s, r, found, end, &told)
	e.report(&told, end)
}

// conclude is finish for a call without a callback, but for the hooks: it runs no
// user code.
func (e *Engine[T]) conclude(s *slot[T], r ref, found state, end *ending, told *Settlement) {
	e.tell(s, r, end, told)
	if found == discarded {
		e.freeSlot(s, r)
		return
	}
	*e.table.endingOf(r.index()) = end
	e.publish(s, r, ended)
}

// finishCallback is finish for a call with a callback, which has its turn also when
// a hook ends this goroutine.
func (e *Engine[T]) finishCallback(s *slot[T], r ref, end *ending) {
	var told Settlement
	e.tell(s, r, end, &told)
	notify := s.notify
	s.notify = nil
	o := Outcome[T]{ID: e.idOf(r), Err: e.errorOf(s, r, end), Status: end.status}
	st, entered := e.freeAndEnter(s, r)
	defer e.deliver(st, entered, notify, &o)
	e.report(&told, end)
}

// tell does what every ending without a value needs while the call is still
// owned: it leaves the index, and of what the hooks will hear is put into told what
// they will hear.
func (e *Engine[T]) tell(s *slot[T], r ref, end *ending, told *Settlement) {
	switch {
	case e.observer != nil:
		*told = e.settlement(s, r, end)
	case e.onAbandon != nil && end.abandoned():
		told.ID, told.Method, told.Sent = e.idOf(r), e.methodOf(r), s.sent.Load() == r.gen()
	}
	if e.index != nil {
		id := e.idOf(r)
		e.index.remove(id, e.index.hash(id), r, end.status == Rejected)
	}
}

// methodOf is the method of the call r, which the caller owns.
func (e *Engine[T]) methodOf(r ref) string {
	if d := e.table.dir.Load().details.at(r.index()); d != nil {
		return d.method
	}
	return ""
}

// report runs the hooks for an ending without a value, the second also when the
// first ends this goroutine.
func (e *Engine[T]) report(told *Settlement, end *ending) {
	if e.onAbandon != nil && end.abandoned() {
		defer e.abandon(Abandonment{told.ID, told.Method, end.status, told.Sent})
	}
	e.observe(told)
}

// settlement describes to the observer the end of a call that the caller owns.
func (e *Engine[T]) settlement(s *slot[T], r ref, end *ending) Settlement {
	elapsed := end.elapsed(s.start)
	told := Settlement{
		ID:      e.idOf(r),
		Method:  e.methodOf(r),
		Status:  end.status,
		Sent:    s.sent.Load() == r.gen(),
		Queue:   elapsed,
		Elapsed: elapsed,
		Err:     end.err,
	}
	if told.Sent {
		told.Queue = max(time.Duration(e.table.dispatchOf(r.index()).Load()-s.start), 0)
	}
	return told
}
