package serve

import (
	"sync"
	"time"
)

// crew runs handlers, each on a goroutine that does nothing else meanwhile. Its
// goroutines live while there is work; the last lingers for a second, since a new
// one would have to grow its stack again for every burst.
//
// A burst of quick handlers must not cost a goroutine each, and a slow one must
// not hold up those behind it. So at most one goroutine is on its way: put starts
// one if none is, and the first thing that it does when it runs is to see to the
// next if there is more to do. Quick handlers are over before that one ran, and
// one goroutine serves them all; behind a slow one the next is on its way already.
//
// W1: while something waits and running < limit, a goroutine is on its way.
type crew struct {
	limit     int
	abandoned int // may go on without counting
	serve     func(*run)
	wake      chan struct{} // of the one that lingers

	mu        sync.Mutex // protects the fields below
	first     *run       // what waits, in order, by run.next and run.before
	last      *run
	queued    int
	running   int // goroutines that count
	gone      int // goroutines that were abandoned and run on
	coming    bool
	lingering bool
	closed    bool // nobody lingers any more
}

// linger is how long the last goroutine waits for more.
const linger = time.Second

// put runs r as soon as a goroutine is free for it.
func (c *crew) put(r *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil {
		c.first = r
	} else {
		c.last.next, r.before = r, c.last
	}
	c.last = r
	c.queued++
	c.callLocked()
}

// withdraw takes r out, if it waits: what nobody wants any more must not pile up
// behind handlers that are slow.
func (c *crew) withdraw(r *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.before != nil || r.next != nil || c.first == r {
		c.unlinkLocked(r)
	}
}

func (c *crew) unlinkLocked(r *run) {
	if r.before == nil {
		c.first = r.next
	} else {
		r.before.next = r.next
	}
	if r.next == nil {
		c.last = r.before
	} else {
		r.next.before = r.before
	}
	r.before, r.next = nil, nil
	c.queued--
}

// callLocked keeps W1.
func (c *crew) callLocked() {
	if c.first == nil || c.coming || c.running >= c.limit {
		return
	}
	c.coming = true
	c.running++
	if c.lingering {
		c.lingering = false
		c.wake <- struct{}{}
		return
	}
	go c.work()
}

// take gives the next run; nil ends the goroutine.
func (c *crew) take(arrived bool) *run {
	for {
		r, stay := c.tryTake(arrived)
		if r != nil || !stay || !c.await() {
			return r
		}
		arrived = true
	}
}

// await lingers; false says that nothing came.
func (c *crew) await() bool {
	timer := time.NewTimer(linger)
	defer timer.Stop()
	select {
	case <-c.wake:
	case <-timer.C:
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.lingering {
			c.lingering = false
			return false
		}
		<-c.wake // it was woken just now
	}
	return true
}

// close lets nobody linger.
func (c *crew) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.lingering { // it finds nothing, and goes
		c.lingering = false
		c.coming = true
		c.running++
		c.wake <- struct{}{}
	}
}

// tryTake gives the next run if there is one. stay says that the goroutine is the
// one to linger.
func (c *crew) tryTake(arrived bool) (r *run, stay bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if arrived {
		c.coming = false
	}
	r = c.first
	if r == nil {
		c.running--
		stay = !c.lingering && !c.closed
		c.lingering = c.lingering || stay
		return nil, stay
	}
	c.unlinkLocked(r)
	r.placed = true
	c.callLocked()
	return r, false
}

func (c *crew) work() {
	var r *run
	defer func() {
		// A handler may end its goroutine; what waits must not go with it.
		if r != nil && c.leave(r) {
			c.mu.Lock()
			c.running--
			c.callLocked()
			c.mu.Unlock()
		}
	}()
	for r = c.take(true); r != nil; r = c.take(false) {
		c.serve(r)
		if !c.leave(r) {
			r = nil
			return
		}
	}
}

// leave ends r's hold on its goroutine's place. False says that the place was
// given away meanwhile, and the goroutine is to end.
func (c *crew) leave(r *run) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !r.placed {
		c.gone--
		return false
	}
	r.placed = false
	return true
}

// abandon gives r's place away, if it has one and may lose it.
func (c *crew) abandon(r *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !r.placed || c.gone >= c.abandoned {
		return
	}
	r.placed = false
	c.gone++
	c.running--
	c.callLocked()
}

// counts is how many goroutines count, how many were abandoned, and how many runs
// wait for one.
func (c *crew) counts() (running, gone, queued int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running, c.gone, c.queued
}
