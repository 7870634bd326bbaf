package engine

// freeSlot gives the slot of a settled call back. The caller owns the call and has
// taken out of it what it needs.
func (e *Engine[T]) freeSlot(s *slot[T], r ref) {
	st := e.free.stripe()
	head := st.head.Load()
	s.store(makeWord(0, r.gen(), free).withNext(topOf(head)))
	e.putBack(st, head, s, r)
}

// freeAndEnter is freeSlot for a call with a callback, which begins with it.
func (e *Engine[T]) freeAndEnter(s *slot[T], r ref) (st *stripe[T], entered bool) {
	st = e.free.stripe()
	head := st.head.Load()
	s.store(makeWord(0, r.gen(), free).withNext(topOf(head)))
	return st, e.putBackAndEnter(st, head, s, r)
}

// putBack finishes giving a slot back, whose word is free already and names the
// top of head as the slot below. A slot whose generations are spent goes nowhere:
// it is retired, and the bound makes up for it.
func (e *Engine[T]) putBack(st *stripe[T], head uint64, s *slot[T], r ref) {
	if r.gen() == e.free.genMax {
		e.free.retired.Add(1)
	} else {
		e.free.link(st, head, r.index(), s)
	}
	e.released(st)
}

func (e *Engine[T]) putBackAndEnter(st *stripe[T], head uint64, s *slot[T], r ref) (entered bool) {
	if r.gen() == e.free.genMax {
		e.free.retired.Add(1)
		entered = st.enter()
	} else {
		entered = e.free.linkAndEnter(st, head, r.index(), s)
	}
	e.released(st)
	return entered
}

// released puts the stripe back when a slot has come free. Whoever waits for room
// first says so and then looks for it, so one of the two sees the other.
func (e *Engine[T]) released(st *stripe[T]) {
	e.free.release(st)
	if e.room.waiting.Load() != 0 {
		e.handOut()
	}
}

// giveBack returns a slot that was taken and never used.
func (e *Engine[T]) giveBack(s *slot[T], i uint32) {
	st := e.free.stripe()
	e.free.push(st, i, s)
	e.free.release(st)
	if e.room.waiting.Load() != 0 {
		e.handOut()
	}
}
