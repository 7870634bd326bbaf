package engine

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// depthMax bounds how deep callbacks nest when they settle calls that have
// callbacks: what would go deeper is put off until the outermost returns. It is
// counted per stripe, so calls of other goroutines may be counted in.
const depthMax = 128

// running keeps count of the callbacks under way on a stripe, and those put off.
type running[T any] struct {
	depth   atomic.Int32
	waiting atomic.Int32 // len(queue); read without mu to see that there is nothing to do
	mu      sync.Mutex
	queue   []notification[T]
}

type notification[T any] struct {
	notify  func(Outcome[T])
	outcome Outcome[T]
}

// deliver gives an outcome to a callback. The caller holds nothing and the call's
// slot is free. Whoever lowers depth looks at waiting after it, and whoever adds
// to waiting lowers depth after it: so the last of them sees all.
func (e *Engine[T]) deliver(st *stripe[T], notify func(Outcome[T]), o Outcome[T]) {
	r := &st.running
	if r.depth.Add(1) > depthMax {
		r.mu.Lock()
		r.queue = append(r.queue, notification[T]{notify, o})
		r.waiting.Add(1)
		r.mu.Unlock()
		if r.depth.Add(-1) == 0 {
			e.catchUp(r)
		}
		return
	}
	e.run(r, notify, o)
	if r.waiting.Load() != 0 {
		e.catchUp(r)
	}
}

// catchUp runs what was put off, first come first run.
func (e *Engine[T]) catchUp(r *running[T]) {
	for r.waiting.Load() != 0 {
		r.mu.Lock()
		if len(r.queue) == 0 {
			r.mu.Unlock()
			return
		}
		n := r.queue[0]
		r.queue[0] = notification[T]{}
		r.queue = r.queue[1:]
		r.waiting.Add(-1)
		r.mu.Unlock()

		r.depth.Add(1)
		e.run(r, n.notify, n.outcome)
	}
}

// run calls a function of the user, survives it and lowers depth, whether it
// returns, panics or ends its goroutine.
func (e *Engine[T]) run(r *running[T], notify func(Outcome[T]), o Outcome[T]) {
	defer e.leave(r)
	notify(o)
}

func (e *Engine[T]) leave(r *running[T]) {
	v := recover()
	r.depth.Add(-1)
	if v != nil {
		e.survived(v)
	}
}

// survived counts and tells a panic of a user's function. The engine goes on, for
// other calls depend on the same goroutine.
func (e *Engine[T]) survived(v any) {
	e.count(countPanics)
	if e.onPanic != nil {
		e.onPanic(v, debug.Stack())
	}
}

func (e *Engine[T]) survive() {
	if v := recover(); v != nil {
		e.survived(v)
	}
}

func (e *Engine[T]) observe(s Settlement) {
	defer e.survive()
	e.observer(s)
}

func (e *Engine[T]) abandon(a Abandonment) {
	defer e.survive()
	e.onAbandon(a)
}
