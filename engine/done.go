package engine

// doneChan is the channel of one call's Done.
type doneChan struct {
	gen uint32
	ch  chan struct{}
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
		made := &doneChan{gen, make(chan struct{})}
		if p.done.CompareAndSwap(done, made) {
			return made
		}
	}
}
