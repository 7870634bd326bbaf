package limit

import (
	"iter"
	"sync"
	"sync/atomic"
	"time"
)

// Gate lets so many calls through at once and has others wait in a bounded queue: the
// clients in turn, of each client its sessions in turn, of each session the calls in
// order. All methods are safe for concurrent use. A nil Gate lets all through.
type Gate struct {
	places atomic.Int64 // taken
	queued atomic.Int64 // tickets in lines
	most   atomic.Int64 // how many places there are; zero and less is no bound

	mu      sync.Mutex // guards the fields below
	o       Options
	queues  queues
	late    deadlines
	letting bool // somebody is letting tickets in
	pace    pace
}

// Ticket is a call's place in a queue. The zero Ticket is ready for use, by one gate
// at a time.
type Ticket struct {
	waiter       Waiter
	line         *line  // nil of one that is held
	holder       *queue // nil of all others
	prev, next   *Ticket
	since, until time.Duration
	index        int // among the deadlines
	waiting      bool
}

// New makes a gate.
func New(o Options) *Gate {
	g := &Gate{o: o.withDefaults(), queues: queues{of: make(map[Client]*queue)}}
	g.most.Store(int64(o.MaxInFlight))
	return g
}

// Set replaces the options while calls go on. Those that are past the gate stay there,
// be they more than it has places now; those that wait keep their place and their
// deadline, and go in before Set returns as far as there is room. now is Leave's.
func (g *Gate) Set(o Options, now func() time.Duration) {
	g.mu.Lock()
	g.o = o.withDefaults()
	g.most.Store(int64(o.MaxInFlight))
	g.mu.Unlock()
	if g.queued.Load() > 0 {
		g.let(now())
	}
}

// Try takes a place if one is free and nobody waits. It is what most calls need.
func (g *Gate) Try() bool {
	if g == nil {
		return true
	}
	return (g.queued.Load() == 0 || g.most.Load() <= 0) && g.take()
}

func (g *Gate) take() bool {
	for {
		n, most := g.places.Load(), g.most.Load()
		if most > 0 && n >= most {
			return false
		}
		if g.places.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Wait is for who got no place by Try: Queued says that w will be told, once, unless
// t is withdrawn; Admitted that a place has come free. wait is how long it may take:
// zero is the gate's own time, negative for ever.
func (g *Gate) Wait(t *Ticket, c Client, w Waiter, now, wait time.Duration) Verdict {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isFull(c) {
		if g.queued.Load() == 0 && g.take() {
			return Admitted
		}
		return RefusedFull
	}
	g.start(t, w, now, wait)
	g.queues.join(t, c)
	// Who left just now may have seen an empty queue.
	if g.queued.Add(1) == 1 && g.take() {
		g.remove(t)
		return Admitted
	}
	return Queued
}

// Hold is Wait for a call that waits for something else than a place, which it has,
// or needs none: it is refused when its time is over, and counts against the bound.
// It is Withdrawn when what it waits for has come.
func (g *Gate) Hold(t *Ticket, c Client, w Waiter, now, wait time.Duration) Verdict {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isFull(c) {
		return RefusedFull
	}
	g.start(t, w, now, wait)
	g.queues.hold(t, c)
	return Queued
}

// isFull reports whether one more of c may not wait. g.mu is held.
func (g *Gate) isFull(c Client) bool {
	return g.late.len() >= g.o.MaxQueued || g.queues.waiting(c) >= g.o.MaxQueuedClient
}

// start has t wait. g.mu is held.
func (g *Gate) start(t *Ticket, w Waiter, now, wait time.Duration) {
	if wait == 0 {
		wait = g.o.QueueWait
	}
	*t = Ticket{waiter: w, since: now, until: now + wait, waiting: true}
	if wait < 0 {
		t.until = never
	}
	g.late.add(t)
}

const never = time.Duration(1<<63 - 1)

// Withdraw takes t out of the queue. True says that it was in it, so that its waiter
// will not be told: of all who would end the wait one gets true.
func (g *Gate) Withdraw(t *Ticket) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !t.waiting {
		return false
	}
	g.remove(t)
	return true
}

// Leave gives a place back, and lets in who waits for it. now is the time, which is
// asked for only if somebody waits.
func (g *Gate) Leave(now func() time.Duration) {
	if g == nil {
		return
	}
	g.places.Add(-1)
	if g.queued.Load() > 0 {
		g.let(now())
	}
}

// let lets in as many as there are places for. Waiters are told without the lock, and
// what they do may come back here: then it is left to who is at it already.
func (g *Gate) let(now time.Duration) {
	g.mu.Lock()
	g.pace.left(now)
	if g.letting {
		g.mu.Unlock()
		return
	}
	g.letting = true
	g.mu.Unlock()
	ended := false
	defer func() {
		if !ended { // a waiter has panicked
			g.mu.Lock()
			g.letting = false
			g.mu.Unlock()
		}
	}()
	for t := g.admit(); t != nil; t = g.admit() {
		t.waiter.Enter(now - t.since)
	}
	ended = true
}

// admit takes the ticket whose turn it is out of its queue, with a place for it; nil
// ends the letting.
func (g *Gate) admit() *Ticket {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.queues.turn == nil || !g.take() {
		g.letting = false
		return nil
	}
	t := g.queues.first()
	g.remove(t)
	return t
}

// Next is when Expire has something to do.
func (g *Gate) Next() (time.Duration, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.late.next()
}

// Expire refuses all whose time is over, and says when the next one's is.
func (g *Gate) Expire(now time.Duration) (time.Duration, bool) {
	for w, again := range g.Overdue(now) {
		w.Refuse(RefusedLate, again)
	}
	return g.Next()
}

// Overdue is Expire for who refuses them itself, many at once for example: it takes those
// whose time is over out of the queue, one by one, and gives when they may come back.
func (g *Gate) Overdue(now time.Duration) iter.Seq2[Waiter, time.Duration] {
	return func(yield func(Waiter, time.Duration) bool) {
		for {
			g.mu.Lock()
			t := g.late.due(now)
			if t == nil {
				g.mu.Unlock()
				return
			}
			g.remove(t)
			again := g.hint()
			g.mu.Unlock()
			if !yield(t.waiter, again) {
				return
			}
		}
	}
}

// RetryAfter is when one who was refused may come again: in about the time that the
// queue of now takes.
func (g *Gate) RetryAfter() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hint()
}

func (g *Gate) hint() time.Duration { return g.pace.last(int(g.queued.Load())) }

// Load is how many calls are past the gate and how many wait.
func (g *Gate) Load() (inFlight, waiting int) {
	if g == nil {
		return 0, 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return int(g.places.Load()), g.late.len()
}

// remove ends the wait of t. g.mu is held.
func (g *Gate) remove(t *Ticket) {
	t.waiting = false
	g.late.remove(t)
	if t.line != nil {
		g.queued.Add(-1)
	}
	g.queues.remove(t)
}
