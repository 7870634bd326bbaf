package conn

import (
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/internal/invariants"
)

// room is the bound on bytes that wait to be written. Who finds none waits in
// turn; only callers wait, never the reader and never a callback.
//
// I2: taken is at most limit, unless one frame alone is above it, or the reader
// forced its own short answers in, at most limit more.
// I3: nobody waits for a slot of the table while holding room, so that a table
// full of calls that wait for room can always go on.
type room struct {
	limit int64
	taken atomic.Int64
	// queue is the length of waiting. A waiter counts itself in before it looks
	// at taken again; who frees room subtracts before it looks at queue. So one
	// of the two sees the other.
	queue atomic.Int32

	mu   sync.Mutex // protects the ring of waiters
	ring roomWaiter // its next is the first in turn, its prev the last
}

type roomWaiter struct {
	need       int64
	ready      chan struct{} // closed when need was taken for the waiter
	prev, next *roomWaiter   // nil outside the ring
}

func newRoom(limit int) *room {
	r := &room{limit: int64(limit)}
	r.ring.prev, r.ring.next = &r.ring, &r.ring
	return r
}

// fits reports whether need more may be taken.
func (r *room) fits(taken, need int64) bool { return taken == 0 || taken+need <= r.limit }

// try takes need if it is free and nobody waits before.
func (r *room) try(need int) bool {
	return r.queue.Load() == 0 && r.claim(int64(need))
}

func (r *room) claim(need int64) bool {
	for {
		taken := r.taken.Load()
		if !r.fits(taken, need) {
			return false
		}
		if r.taken.CompareAndSwap(taken, taken+need) {
			return true
		}
	}
}

// force takes need although callers wait or the bound is reached, but not
// beyond twice the bound. It is for what the reader itself has to say.
func (r *room) force(need int) bool {
	if r.taken.Load() > 2*r.limit-int64(need) {
		return false
	}
	r.taken.Add(int64(need))
	return true
}

// enter takes a place in the queue; ready is closed already if there is room.
// Each enter is followed by one leave.
func (r *room) enter(need int) *roomWaiter {
	w := &roomWaiter{need: int64(need), ready: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	w.prev, w.next = r.ring.prev, &r.ring
	w.prev.next, w.next.prev = w, w
	r.queue.Add(1)
	r.serveLocked()
	return w
}

// leave ends the wait and reports whether room was given: then it is the
// caller's to release.
func (r *room) leave(w *roomWaiter) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.next == nil {
		return true
	}
	r.unlinkLocked(w)
	r.serveLocked() // the next in turn may need less
	return false
}

// release frees n bytes and gives them to who waits.
func (r *room) release(n int) {
	if n == 0 {
		return
	}
	left := r.taken.Add(-int64(n))
	if invariants.Enabled {
		invariants.Check(left >= 0, "I2: room of %d bytes given back twice", n)
	}
	if r.queue.Load() == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.serveLocked()
}

func (r *room) serveLocked() {
	for w := r.ring.next; w != &r.ring && r.claim(w.need); w = r.ring.next {
		r.unlinkLocked(w)
		close(w.ready)
	}
}

func (r *room) unlinkLocked(w *roomWaiter) {
	w.prev.next, w.next.prev = w.next, w.prev
	w.prev, w.next = nil, nil
	r.queue.Add(-1)
}
