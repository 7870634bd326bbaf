package engine

// freeSlot gives the slot of a settled call back. The caller owns the call and has
// taken out of it what it needs. What is left is CallOptions.Into, if that: of a call
// that its waiter gave up, or that was discarded after it began.
func (e *Engine[T]) freeSlot(s *slot[T], r ref) {
	var none T
	s.value = none
	tk := e.free.hold()
	head := tk.head.Load()
	s.store(makeWord(0, r.gen(), free).withNext(topOf(head)))
	e.putBack(tk, head, s, r)
}

// putBack finishes giving a slot back, whose word is free already and names the
// top of head as the slot below: the compare-and-swap that gave the call up did
// both. A slot whose generations are spent goes nowhere: it is retired, and the
// bound makes up for it.
func (e *Engine[T]) putBack(tk *token[T], head uint64, s *slot[T], r ref) {
	if r.gen() == e.free.genMax {
		e.free.retired.Add(1)
	} else if !tk.head.CompareAndSwap(head, withTop(head, r.index()+1)) {
		e.free.collided(tk)
		e.free.push(tk.stripe, r.index(), s)
	}
	e.released(tk)
}

// putBackAndEnter is putBack for a call with a callback, which begins with it.
func (e *Engine[T]) putBackAndEnter(tk *token[T], head uint64, s *slot[T], r ref) (st *stripe[T], entered bool) {
	st = tk.stripe
	if r.gen() == e.free.genMax {
		e.free.retired.Add(1)
		entered = st.enter()
	} else {
		entered = e.free.pushAndEnter(st, head, r.index(), s)
	}
	e.released(tk)
	return st, entered
}

// freeAndEnter is freeSlot for a call with a callback.
func (e *Engine[T]) freeAndEnter(s *slot[T], r ref) (st *stripe[T], entered bool) {
	tk := e.free.hold()
	head := tk.head.Load()
	s.store(makeWord(0, r.gen(), free).withNext(topOf(head)))
	return e.putBackAndEnter(tk, head, s, r)
}

// released puts the token back when a slot has come free. Whoever waits for room
// first says so and then looks for it, so one of the two sees the other.
func (e *Engine[T]) released(tk *token[T]) {
	e.free.tokens.Put(tk)
	if e.room.waiting.Load() != 0 {
		e.handOut()
	}
}

// giveBack returns a slot that was taken and never used.
func (e *Engine[T]) giveBack(s *slot[T], i uint32) {
	tk := e.free.hold()
	e.free.push(tk.stripe, i, s)
	e.released(tk)
}
