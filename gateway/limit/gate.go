package limit

import (
	"sync"
	"sync/atomic"
	"time"
)

// Gate lets so many calls through at once and has others wait in a bounded queue: the
// clients in turn, the calls of each in order. All methods are safe for concurrent
// use. A nil Gate lets all through.
type Gate struct {
	o      Options
	places atomic.Int64 // taken
	queued atomic.Int64 // tickets in lines

	mu      sync.Mutex // guards the fields below
	lines   map[Client]*line
	turn    *line // whose turn is next; the lines with tickets are a ring
	late    deadlines
	letting bool // somebody is letting tickets in
	pace    pace
}

// Client is whose calls stand in one line. Either field may be all that is set.
type Client struct {
	Name   string
	Number uint64
}

// line is one client's tickets, the first to go first.
type line struct {
	client      Client
	first, last *Ticket
	n           int
	held        int   // tickets that are held, and in no order
	next, prev  *line // of the ring
}

// Ticket is a call's place in a queue. The zero Ticket is ready for use, by one gate
// at a time.
type Ticket struct {
	waiter       Waiter
	line         *line // nil of one that is held
	holder       *line // nil of all others
	prev, next   *Ticket
	since, until time.Duration
	index        int // among the deadlines
	waiting      bool
}

// New makes a gate.
func New(o Options) *Gate {
	return &Gate{o: o.withDefaults(), lines: make(map[Client]*line)}
}

// Try takes a place if one is free and nobody waits. It is what most calls need.
func (g *Gate) Try() bool {
	if g == nil {
		return true
	}
	if g.o.MaxInFlight <= 0 {
		g.places.Add(1)
		return true
	}
	return g.queued.Load() == 0 && g.take()
}

func (g *Gate) take() bool {
	for {
		n := g.places.Load()
		if n >= int64(g.o.MaxInFlight) {
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
	l := g.lines[c]
	switch {
	case g.late.len() >= g.o.MaxQueued, l != nil && l.n+l.held >= g.o.MaxQueuedClient:
		if g.queued.Load() == 0 && g.take() {
			return Admitted
		}
		return RefusedFull
	case l == nil:
		l = &line{client: c}
		g.lines[c] = l
	}
	g.start(t, w, now, wait)
	g.join(l, t)
	// Who left just now may have seen an empty queue.
	if g.queued.Load() == 1 && g.take() {
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
	l := g.lines[c]
	switch {
	case g.late.len() >= g.o.MaxQueued, l != nil && l.n+l.held >= g.o.MaxQueuedClient:
		return RefusedFull
	case l == nil:
		l = &line{client: c}
		g.lines[c] = l
	}
	g.start(t, w, now, wait)
	t.holder = l
	l.held++
	return Queued
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
	if g.turn == nil || !g.take() {
		g.letting = false
		return nil
	}
	t := g.turn.first
	g.turn = g.turn.next
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
	for {
		g.mu.Lock()
		t := g.late.due(now)
		if t == nil {
			next, ok := g.late.next()
			g.mu.Unlock()
			return next, ok
		}
		g.remove(t)
		again := g.hint()
		g.mu.Unlock()
		t.waiter.Refuse(RefusedLate, again)
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

// join puts t at the end of l, and l behind all others. g.mu is held.
func (g *Gate) join(l *line, t *Ticket) {
	t.line = l
	if t.prev = l.last; l.last != nil {
		l.last.next = t
	} else {
		l.first = t
		if g.turn == nil {
			g.turn, l.next, l.prev = l, l, l
		} else {
			l.next, l.prev = g.turn, g.turn.prev
			l.prev.next, l.next.prev = l, l
		}
	}
	l.last = t
	l.n++
	g.queued.Add(1)
}

// drop forgets a line that has no ticket. g.mu is held.
func (g *Gate) drop(l *line) {
	if l.n == 0 && l.held == 0 {
		delete(g.lines, l.client)
	}
}

// remove ends the wait of t. g.mu is held.
func (g *Gate) remove(t *Ticket) {
	t.waiting = false
	g.late.remove(t)
	if l := t.holder; l != nil {
		t.holder = nil
		l.held--
		g.drop(l)
		return
	}
	l := t.line
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		l.first = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	} else {
		l.last = t.prev
	}
	t.line, t.prev, t.next = nil, nil, nil
	g.queued.Add(-1)
	if l.n--; l.n > 0 {
		return
	}
	g.drop(l)
	if l.next == l {
		g.turn = nil
		return
	}
	if g.turn == l {
		g.turn = l.next
	}
	l.prev.next, l.next.prev = l.next, l.prev
}
