package engine

import "context"

// Run begins calls one after the other for less than as many times Begin: it takes
// free slots from the table by the dozen. It is for one goroutine; what it has
// begun are calls like any others. Begin it with [Engine.Run] and end it with End.
type Run[T any] struct {
	e    *Engine[T]
	todo int    // calls that are to come
	top  uint32 // first of the slots in hand + 1; each one's word names the next
	left int    // how many are in hand
}

// runMost is how many slots a run holds at most, beyond what it has begun. To hold
// more would save little: a slot's share of one compare-and-swap.
const runMost = 64

// Run is for a batch of about n calls under minted ids. Until End a few slots may
// be counted as taken that no call has yet.
func (e *Engine[T]) Run(n int) Run[T] { return Run[T]{e: e, todo: n} }

// Begin is [Engine.Begin], but for options that are borrowed until it returns.
func (r *Run[T]) Begin(ctx context.Context, o *CallOptions[T]) (Call[T], error) {
	e := r.e
	if r.left == 0 && r.todo > 1 && e.index == nil && e.room.waiting.Load() == 0 {
		r.top, r.left = e.free.takeSome(min(r.todo, runMost))
	}
	r.todo--
	if r.left == 0 || e.failure.Load() != nil {
		return e.Begin(ctx, *o)
	}
	if err := e.refuse(o); err != nil {
		return Call[T]{}, err
	}
	i := r.top - 1
	s := e.table.slot(i)
	w := s.load()
	r.top, r.left = w.next(), r.left-1
	id := makeRef(w.gen()+1, i)
	e.begin(ctx, s, id, o)
	return Call[T]{e: e, ref: id}, nil
}

// End gives back the slots that no call took. A run without End loses them.
func (r *Run[T]) End() {
	for ; r.left > 0; r.left-- {
		i := r.top - 1
		s := r.e.table.slot(i)
		r.top = s.load().next()
		r.e.giveBack(s, i)
	}
	r.todo = 0
}

// takeSome takes up to most slots from the top of this P's stack: the number of the
// first, plus one, and how many. They stay linked as they were. None does not mean
// that there are none elsewhere.
func (f *freelist[T]) takeSome(most int) (top uint32, n int) {
	tk := f.hold()
	head := tk.head.Load()
	top = topOf(head)
	// As in stealFrom, what is read is only trusted once the head is swapped.
	below := top
	for below != 0 && n < most {
		s := f.table.slot(below - 1)
		if s == nil {
			break
		}
		below = s.load().next()
		n++
	}
	if n > 0 && !tk.head.CompareAndSwap(head, poppedTo(head, below)) {
		f.collided(tk)
		n = 0
	}
	f.release(tk)
	return top, n
}
