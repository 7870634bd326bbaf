package engine

import (
	"errors"

	"github.com/correlator-go/correlator/codec"
)

// Resolve settles the call of id with a result, and reports whether it was the
// one that settled it. False is normal traffic: the id names no pending call (see
// Stats for which of late, duplicate and unknown it was).
func (e *Engine[T]) Resolve(id codec.ID, v T) bool {
	if e.index != nil {
		return e.resolveKeyed(id, v)
	}
	s, r := e.findMinted(id)
	if s != nil {
		// The usual cases, in as few steps as they need.
		switch w := s.load(); {
		case w.is(r.gen(), pending) && e.simple:
			if s.swap(w, w.with(settling)) {
				s.value = v
				if !s.swap(w.with(settling), w.with(answered)) {
					e.publish(s, r, answered) // someone came
				}
				return true
			}
		case w.is(r.gen(), callback) && e.observer == nil:
			if e.handOver(s, r, w, v) {
				return true
			}
		}
		if w, won := s.claim(r.gen()); won {
			e.resolve(s, r, w, id, v)
			return true
		}
	}
	if e.matchText {
		if other, ok := e.sameText(id); ok {
			return e.Resolve(other, v)
		}
	}
	e.count(e.miss(s, r))
	return false
}

// resolveKeyed is Resolve for callers' ids.
func (e *Engine[T]) resolveKeyed(id codec.ID, v T) bool {
	hash := e.index.hash(id)
	r, ok := e.index.load(id, hash)
	if ok {
		s := e.table.slot(r.index())
		if w, won := s.claim(r.gen()); won {
			e.index.remove(id, hash, r, true)
			e.resolve(s, r, w, id, v)
			return true
		}
	}
	if e.matchText {
		if other, ok := e.sameText(id); ok {
			return e.resolveKeyed(other, v)
		}
	}
	e.count(e.missKeyed(hash, r, ok))
	return false
}

// handOver settles a call with a callback of an engine without index and observer.
// As nobody can look at its outcome, claiming it and freeing its slot are one
// compare-and-swap: the slot is on no stack yet, so it is still this goroutine's.
func (e *Engine[T]) handOver(s *slot[T], r ref, w word, v T) bool {
	tk := e.free.hold()
	head := tk.head.Load()
	if !s.swap(w, makeWord(0, r.gen(), free).withNext(topOf(head))) {
		e.free.release(tk)
		return false
	}
	notify := s.notify
	s.notify = nil
	st, entered := e.putBackAndEnter(tk, head, s, r)
	if !entered {
		e.deliver(st, false, notify, &Outcome[T]{ID: r.minted(), Value: v, Status: Resolved})
		return true
	}
	e.runResolved(st, notify, r, v)
	return true
}

// runResolved is run for a result. The outcome is made where it is passed on: to
// make it here and copy it costs a stall.
func (e *Engine[T]) runResolved(st *stripe[T], notify func(Outcome[T]), r ref, v T) {
	defer e.leave(st)
	notify(Outcome[T]{ID: r.minted(), Value: v, Status: Resolved})
}

// resolve finishes what a claim that found w has begun: a result came. The call is
// out of the index.
func (e *Engine[T]) resolve(s *slot[T], r ref, w word, id codec.ID, v T) {
	if e.detach != nil && w.state() >= pending {
		var ok bool
		if v, ok = e.detached(s, r, w, v); !ok {
			return
		}
	}
	var told Settlement
	if e.observer != nil {
		told = e.settlement(s, r, &ending{at: e.now(), status: Resolved})
	}
	switch w.state() {
	case callback:
		notify := s.notify
		s.notify = nil
		st, entered := e.freeAndEnter(s, r)
		defer e.deliver(st, entered, notify, &Outcome[T]{ID: id, Value: v, Status: Resolved})
	case discarded:
		e.freeSlot(s, r)
	default:
		s.value = v
		e.publish(s, r, answered)
	}
	e.observe(&told)
}

// detached runs Options.Detach, between claim and publish, while the call belongs
// to this goroutine alone. If it does not return a value the call fails, for one
// that was only lent may not be kept.
func (e *Engine[T]) detached(s *slot[T], r ref, w word, v T) (_ T, ok bool) {
	defer func() {
		if ok {
			return
		}
		p := recover() // nil when it ends this goroutine
		s.unanswered.Store(r.gen())
		e.count(countFailed)
		if p != nil {
			defer e.survived(p)
		}
		e.finish(s, r, w.state(), &ending{err: errDetach, at: e.now(), status: Failed})
	}()
	return e.detach(v, s.value), true
}

var errDetach = errors.New("engine: Options.Detach did not return")
