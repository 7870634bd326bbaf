package engine

import "sync/atomic"

// doneChan is the channel of one call's Done.
type doneChan struct {
	gen uint32
	ch  chan struct{}
	// dropped says that the call was discarded while its outcome was being written:
	// the winner is to consume it.
	dropped atomic.Bool
}

var closedChan = func() chan struct{} {
	ch := make(chan struct{})
	close(ch)
	return ch
}()

// Done returns a channel that is closed when the call is settled, for a select;
// the outcome is then there for Wait or Outcome. It is made when first asked for,
// so calls that are only waited on never pay for it, and it is the same each time.
// For a call whose outcome is not for the handle (a callback gets it, it was
// discarded or consumed) it is closed.
func (c Call[T]) Done() <-chan struct{} {
	if c.ref == 0 {
		return closedChan
	}
	s, gen := c.e.table.slot(c.ref.index()), c.ref.gen()
	if w := s.load(); !w.attendable(gen) {
		return closedChan
	}
	// The channel stands in its place before the word says that there is one, so
	// the winner that sees the mark finds the channel.
	p := c.e.table.parkerOf(c.ref.index())
	done := p.doneOf(gen)
	if done == nil {
		return closedChan
	}
	for {
		w := s.load()
		if !w.attendable(gen) {
			return closedChan
		}
		if w.state()&watchedBit != 0 || s.swap(w, w|word(watchedBit)) {
			return done.ch
		}
	}
}

// attendable reports whether the call gen is not settled yet and its outcome will
// be kept for who asks.
func (w word) attendable(gen uint32) bool {
	return w.gen() == gen && w.state() >= pending && !w.settled()
}

// doneOf returns the channel of the call gen, nil when a later call has the place.
// A channel of an earlier call may stand there, when that call was settled
// between the two steps of Done: nobody waits on it.
func (p *parker) doneOf(gen uint32) *doneChan {
	for {
		done := p.done.Load()
		switch {
		case done != nil && done.gen == gen:
			return done
		case done != nil && done.gen > gen:
			return nil
		}
		made := &doneChan{gen: gen, ch: make(chan struct{})}
		if p.done.CompareAndSwap(done, made) {
			return made
		}
	}
}

// dropSettling discards a call that is being settled, without waiting for it: the
// winner may be further up on this very stack. It is done by the mark on a channel
// that nobody sees. The winner looks at the mark after it published the outcome,
// and this looks for the outcome after the mark, so one of the two consumes it.
// False means that the word has changed.
func (e *Engine[T]) dropSettling(s *slot[T], r ref, w word) bool {
	done := e.table.parkerOf(r.index()).doneOf(r.gen())
	if done == nil {
		return true // another call has the slot
	}
	done.dropped.Store(true)
	return s.swap(w, w|word(watchedBit)) && s.load().settlingNow()
}
