package engine

import "github.com/correlator-go/correlator/internal/invariants"

// publish makes the outcome of a claimed call visible, as answered or ended, and
// tells whoever attends.
func (e *Engine[T]) publish(s *slot[T], r ref, to state) {
	if w := s.load(); w.state() == settling && s.swap(w, w.with(to)) {
		return
	}
	if e.expose(s, r, to) {
		e.table.parkerOf(r.index()).wake.Load().token <- struct{}{}
	}
}

// expose takes the word of a call that the caller owns to the state to, closes the
// channel that Done gave, and reports whether a waiter parked and wants waking;
// the state is then the held form of to. Attendants may come until the swap.
func (e *Engine[T]) expose(s *slot[T], r ref, to state) (parked bool) {
	for {
		w := s.load()
		// The channel is picked up before the swap: after it, the slot may soon be
		// another call's, and the place of the channel with it.
		var done *doneChan
		if w.state()&watchedBit != 0 {
			done = e.table.parkerOf(r.index()).done.Load()
		}
		if !s.swap(w, w.with(to|w.state()&parkedBit)) {
			continue
		}
		if done != nil {
			if invariants.Enabled {
				invariants.Check(done.gen == r.gen(), "I1: call %x closes the channel of generation %d", r, done.gen)
			}
			e.table.parkerOf(r.index()).done.CompareAndSwap(done, nil)
			close(done.ch)
			if done.dropped.Load() && w.state()&parkedBit == 0 {
				_, _, _ = e.consume(s, r, w.with(to))
			}
		}
		return w.state()&parkedBit != 0
	}
}
