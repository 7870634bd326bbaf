package engine

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// room is the queue of those who wait for a slot under OverflowWait: first come,
// first served. While anyone waits nobody overtakes: who registers joins the
// queue, and a slot that becomes free goes to the first in it.
type room[T any] struct {
	waiting atomic.Int32 // length of the queue
	mu      sync.Mutex
	queue   []chan grant[T]
	closed  bool
}

// grant is what one who waits gets: a slot, or why there is none.
type grant[T any] struct {
	slot  *slot[T]
	index uint32
	err   error
}

// take takes a free slot, nil when the table seems to be full or others wait for
// it. The caller owns it: its word is free, of the generation before the call's.
func (e *Engine[T]) take() (*slot[T], uint32) {
	if e.room.waiting.Load() != 0 {
		return nil, 0
	}
	return e.free.take()
}

// takeFull takes a slot of a table that seems to be full, or waits for one.
func (e *Engine[T]) takeFull(ctx context.Context, o *CallOptions[T]) (*slot[T], uint32, error) {
	g := e.takeOrWait(ctx, o)
	return g.slot, g.index, g.err
}

func (e *Engine[T]) takeOrWait(ctx context.Context, o *CallOptions[T]) grant[T] {
	wait := e.overflow == OverflowWait && !o.NoWait
	if e.room.waiting.Load() == 0 {
		g := e.tryTake()
		if errors.Is(g.err, ErrFull) && e.reclaimUnderPressure() {
			g = e.tryTake()
		}
		if !wait || !errors.Is(g.err, ErrFull) {
			if g.err != nil {
				e.count(countRefused)
			}
			return g
		}
	}
	if !wait {
		e.count(countRefused)
		return grant[T]{err: ErrFull}
	}
	return e.queueUp(ctx, o)
}

// tryTake takes a slot, or finds that at some moment there was none.
func (e *Engine[T]) tryTake() grant[T] {
	for {
		if s, i := e.free.take(); s != nil {
			return grant[T]{slot: s, index: i}
		}
		if e.free.empty() {
			if e.free.retired.Load() == e.free.slotsMax {
				return grant[T]{err: ErrIDsExhausted}
			}
			return grant[T]{err: ErrFull}
		}
		runtime.Gosched() // slots are on their way to a stack
	}
}

// queueUp waits for room until ctx ends.
func (e *Engine[T]) queueUp(ctx context.Context, o *CallOptions[T]) grant[T] {
	from := e.now()
	mine := make(chan grant[T], 1)
	if !e.room.join(mine) {
		return grant[T]{err: ErrClosed}
	}
	e.handOut() // a slot may have come free before this queue was seen
	var end <-chan struct{}
	if ctx != nil {
		end = ctx.Done()
	}
	if g, ok := e.sit(mine, end); ok {
		return g
	}
	if !e.room.leave(mine) {
		if g := <-mine; g.slot != nil { // granted meanwhile: pass it on
			e.giveBack(g.slot, g.index)
		}
	}
	e.count(countRefused)
	err := &CallError{
		Method: o.Method, Status: Cancelled, Elapsed: time.Duration(e.now() - from), Err: context.Cause(ctx),
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err.Status, err.Deadline, err.Budget = Expired, DeadlineContext, err.Elapsed
	}
	return grant[T]{err: err}
}

// sit waits for a grant, false when end comes first. Now and then it has the table
// searched for outcomes that nobody came for.
func (e *Engine[T]) sit(mine <-chan grant[T], end <-chan struct{}) (grant[T], bool) {
	if e.grace < 0 {
		select {
		case g := <-mine:
			return g, true
		case <-end:
			return grant[T]{}, false
		}
	}
	search := make(chan struct{}, 1)
	wait := time.Duration(after(e.linger(), pressureInterval))
	again := e.timer(wait, func() { search <- struct{}{} })
	defer again.Stop()
	for {
		select {
		case g := <-mine:
			return g, true
		case <-end:
			return grant[T]{}, false
		case <-search:
			e.reclaimUnderPressure()
			again.Reset(wait)
		}
	}
}

// join enters the queue, unless the table is closed.
func (q *room[T]) join(mine chan grant[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.queue = append(q.queue, mine)
	q.waiting.Add(1)
	return true
}

// leave takes one out of the queue; false when it has been granted something.
func (q *room[T]) leave(mine chan grant[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.Index(q.queue, mine)
	if at < 0 {
		return false
	}
	q.queue = slices.Delete(q.queue, at, at+1)
	q.waiting.Add(-1)
	return true
}

// shut sends everybody home: the table is closed.
func (q *room[T]) shut() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, mine := range q.queue {
		mine <- grant[T]{err: ErrClosed}
	}
	q.waiting.Add(-int32(len(q.queue)))
	q.queue = nil
}

// handOut gives what is free to those who wait, in their order.
func (e *Engine[T]) handOut() {
	q := &e.room
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.queue) > 0 {
		g := e.tryTake()
		if errors.Is(g.err, ErrFull) {
			return
		}
		mine := q.queue[0]
		q.queue[0] = nil
		q.queue = q.queue[1:]
		q.waiting.Add(-1)
		mine <- g
	}
}
