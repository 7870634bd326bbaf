package rival

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrTimeout ends a call of a rival whose deadline came.
var ErrTimeout = errors.New("rival: timeout")

// Naive is the pending table of most hand-written clients: one map under one
// mutex, a fresh channel and a runtime timer per call. It is safe for concurrent
// use; the zero value is not ready, see [NewNaive].
type Naive struct {
	mu      sync.Mutex
	last    int64
	pending map[int64]*NaiveCall
}

// NaiveCall is one call of a [Naive].
type NaiveCall struct {
	ID     int64 // what the answer must carry
	Method string
	answer chan naiveAnswer
	timer  *time.Timer
}

type naiveAnswer struct {
	value []byte
	err   error
}

// NewNaive returns an empty table.
func NewNaive() *Naive { return &Naive{pending: map[int64]*NaiveCall{}} }

// Begin registers a call that fails with ErrTimeout after timeout.
func (n *Naive) Begin(method string, timeout time.Duration) *NaiveCall {
	c := &NaiveCall{Method: method, answer: make(chan naiveAnswer, 1)}
	n.mu.Lock()
	n.last++
	id := n.last
	c.ID = id
	n.pending[id] = c
	// Under the lock, so that whoever takes the call finds its timer.
	c.timer = time.AfterFunc(timeout, func() { n.expire(id) })
	n.mu.Unlock()
	return c
}

func (n *Naive) take(id int64) *NaiveCall {
	n.mu.Lock()
	c := n.pending[id]
	delete(n.pending, id)
	n.mu.Unlock()
	return c
}

func (n *Naive) expire(id int64) {
	if c := n.take(id); c != nil {
		c.answer <- naiveAnswer{err: ErrTimeout}
	}
}

// Resolve gives the call of that id its answer, and reports whether it was still
// pending.
func (n *Naive) Resolve(id int64, value []byte) bool {
	c := n.take(id)
	if c == nil {
		return false
	}
	c.timer.Stop()
	c.answer <- naiveAnswer{value: value}
	return true
}

// Wait returns the answer, or the error of ctx.
func (c *NaiveCall) Wait(ctx context.Context) ([]byte, error) {
	if ctx.Done() == nil {
		a := <-c.answer
		return a.value, a.err
	}
	select {
	case a := <-c.answer:
		return a.value, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
