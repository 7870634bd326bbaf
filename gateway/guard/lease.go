package guard

import (
	"context"
	"sync"
	"time"
)

// Lease is until when children may live at the most: those that were started with it in
// their context. The guard ends them then, whatever has become of this process. A new
// one is over; Keep makes it last. A nil one lasts for ever. All methods are safe for
// concurrent use.
type Lease struct {
	mu       sync.Mutex // guards the fields below
	until    limit
	attached map[int]*Guard
}

// limit is when a group gets SIGTERM and when SIGKILL, on the clock that all processes
// of the machine have in common.
type limit struct{ term, kill time.Duration }

type leaseKey struct{}

// WithLease is ctx for the start of children under a lease.
func WithLease(ctx context.Context, l *Lease) context.Context {
	return context.WithValue(ctx, leaseKey{}, l)
}

// leaseOf is nil without one.
func leaseOf(ctx context.Context) *Lease {
	l, _ := ctx.Value(leaseKey{}).(*Lease)
	return l
}

// Keep lets the lease last: what it was is replaced. At since+term children get SIGTERM,
// at since+kill SIGKILL. Since is a time that time.Now gave in this process: that from
// before the lease was renewed.
//
// That it is a time and not a duration from now on is what makes this hold for a process
// that is frozen at the worst moment, between the line before this call and the last
// one of it: the guard is told when, on the clock that it looks at itself, so what it
// hears late is as good as what it hears at once.
func (l *Lease) Keep(since time.Time, term, kill time.Duration) {
	at := now() // before Since, so that a pause between the two makes it earlier
	at -= time.Since(since)
	l.mu.Lock()
	l.until = limit{at + term, at + max(term, kill)}
	attached := make(map[int]*Guard, len(l.attached))
	for pgid, g := range l.attached {
		attached[pgid] = g
	}
	l.mu.Unlock()
	for pgid, g := range attached {
		g.keep(pgid, l)
	}
}

// Over reports whether it is time for SIGTERM, so that no child may be started.
func (l *Lease) Over() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return now() >= l.until.term
}

// limit is what the guard is told; false without a lease.
func (l *Lease) limit() (limit, bool) {
	if l == nil {
		return limit{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until, true
}

func (l *Lease) attach(g *Guard, pgid int) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.attached == nil {
		l.attached = make(map[int]*Guard)
	}
	l.attached[pgid] = g
}

func (l *Lease) detach(pgid int) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.attached, pgid)
}
