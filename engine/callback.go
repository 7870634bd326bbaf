package engine

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// depthMax bounds how deep callbacks nest when they settle calls that have
// callbacks: what would go deeper is put off until one of them returns. It bounds
// the callbacks that run at one time on one stripe, which is not quite the same.
// Callbacks of other goroutines that settled on this stripe count too, so one may
// be put off though it would not nest. And a goroutine that is moved to another P
// on its way down counts on another stripe from there on: in all it may nest as deep
// as depthMax times the number of stripes, which is twice GOMAXPROCS less one.
const depthMax = 100

const _ = uint(1<<(tagShift-depthShift) - 1 - depthMax)

// lateCallbacks are those that were put off.
type lateCallbacks[T any] struct {
	waiting atomic.Int32 // len(queue); read without mu to see that there is nothing to do
	mu      sync.Mutex
	queue   []notification[T]
}

type notification[T any] struct {
	notify  func(Outcome[T])
	outcome Outcome[T]
}

// enter counts a callback in, unless too many are running.
func (st *stripe[T]) enter() bool {
	for {
		head := st.head.Load()
		if depthOf(head) >= depthMax {
			return false
		}
		if st.head.CompareAndSwap(head, head+depthOne) {
			return true
		}
	}
}

// deliver gives an outcome to a callback, which has entered, or puts it off. The
// caller holds nothing and the call's slot is free. Who leaves looks at waiting
// after it, and who adds to waiting looks at the depth after it: so one of them
// sees the other.
func (e *Engine[T]) deliver(st *stripe[T], entered bool, notify func(Outcome[T]), o *Outcome[T]) {
	if entered {
		e.run(st, notify, o)
		return
	}
	st.late.add(notification[T]{notify, *o})
	if depthOf(st.head.Load()) == 0 {
		e.catchUp(st)
	}
}

func (l *lateCallbacks[T]) add(n notification[T]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, n)
	l.waiting.Add(1)
}

func (l *lateCallbacks[T]) next() (n notification[T], ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		return n, false
	}
	n = l.queue[0]
	l.queue[0] = notification[T]{}
	l.queue = l.queue[1:]
	l.waiting.Add(-1)
	return n, true
}

// catchUp runs what was put off, first come first run. When one of them ends its
// goroutine another one goes on: this one has frames to leave, as many as there
// were callbacks that did the same.
func (e *Engine[T]) catchUp(st *stripe[T]) {
	through := false
	defer func() {
		if !through {
			go e.catchUp(st)
		}
	}()
	for st.late.waiting.Load() != 0 && st.enter() {
		if n, ok := st.late.next(); ok {
			e.runLate(st, n.notify, &n.outcome)
		} else {
			st.leave()
		}
	}
	through = true
}

// run calls a function of the user, survives it and leaves, whether it returns,
// panics or ends its goroutine.
func (e *Engine[T]) run(st *stripe[T], notify func(Outcome[T]), o *Outcome[T]) {
	defer e.leave(st)
	notify(*o)
}

func (e *Engine[T]) leave(st *stripe[T]) {
	v := recover()
	st.leave()
	if v != nil || st.late.waiting.Load() != 0 {
		e.left(st, v)
	}
}

// left does what there may be to do when a callback has left.
func (e *Engine[T]) left(st *stripe[T], v any) {
	defer e.catchUp(st)
	if v != nil {
		e.survived(v)
	}
}

// runLate is run for catchUp, which goes on by itself.
func (e *Engine[T]) runLate(st *stripe[T], notify func(Outcome[T]), o *Outcome[T]) {
	defer func() {
		v := recover()
		st.leave()
		if v != nil {
			e.survived(v)
		}
	}()
	notify(*o)
}

func (st *stripe[T]) leave() { st.head.Add(^uint64(depthOne - 1)) }

// survived counts and tells a panic of a user's function. The engine goes on, for
// other calls depend on the same goroutine.
func (e *Engine[T]) survived(v any) {
	e.count(countPanics)
	if e.onPanic != nil {
		stack := debug.Stack()
		defer func() {
			if recover() != nil {
				e.count(countPanics)
			}
		}()
		e.onPanic(v, stack)
	}
}

func (e *Engine[T]) survive() {
	if v := recover(); v != nil {
		e.survived(v)
	}
}

// observe tells the observer, if there is one.
func (e *Engine[T]) observe(s *Settlement) {
	if e.observer != nil {
		e.tellObserver(s)
	}
}

func (e *Engine[T]) tellObserver(s *Settlement) {
	defer e.survive()
	e.observer(*s)
}

func (e *Engine[T]) abandon(a Abandonment) {
	defer e.survive()
	e.onAbandon(a)
}
