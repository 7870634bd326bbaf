package engine

import (
	"time"

	"github.com/correlator-go/correlator/internal/invariants"
	"github.com/correlator-go/correlator/wheel"
)

// visit looks at a slot that came out of the wheel. Resident is cleared before the
// word is read; see begin for the other half.
func (d *driver[T]) visit(s *slot[T], i uint32, now wheel.Tick) {
	s.resident.Store(uint32(noTick))
	for {
		w := s.load()
		next := noTick
		switch {
		case w.live() && w.tick() != noTick:
			if w.tick().After(now) {
				next = w.tick()
				break
			}
			var retry bool
			if next, retry = d.expire(s, i, w); retry {
				continue
			}
		case w.settlingNow():
			next = d.later(now, d.e.grace) // whether anyone comes for it will be seen
		case w.state() == answered || w.state() == ended:
			var retry bool
			if next, retry = d.expireOutcome(s, i, w, now); retry {
				continue
			}
		}
		if next != noTick {
			d.schedule(s, i, next)
		}
		return
	}
}

// expire ends a call whose word says that it is due. If the word's tick only stood
// for a deadline too far to say, it is moved on instead, and returned. The slot has
// to be looked at again when the call is another than w says, and when there is an
// outcome that somebody should come for.
func (d *driver[T]) expire(s *slot[T], i uint32, w word) (next wheel.Tick, retry bool) {
	e := d.e
	details := e.table.dir.Load().details.at(i)
	l := limits(details.limits.Load())
	deadline := DeadlineTotal
	switch {
	case l.far():
		now := e.now()
		if at := e.table.farOf(i).Load(); at > now {
			deadline = DeadlineIdle
			if l.idle() == 0 {
				next = e.ticks.deadline(at, now)
				return next, !s.swap(w, w.withTick(next))
			}
		}
	case l.total(w) == noTick || l.total(w).After(w.tick()):
		deadline = DeadlineIdle
	}
	if !s.swap(w, w.claimed()) {
		return noTick, true
	}
	s.unanswered.Store(w.gen())
	if invariants.Enabled && deadline == DeadlineTotal {
		late := e.now() - s.start - max(details.budget, -details.budget)
		invariants.Check(late >= 0, "I3: call %x expired %d ns early", makeRef(w.gen(), i), -late)
	}
	if deadline == DeadlineTotal && details.budget < 0 {
		deadline = DeadlineContext
	}
	d.expired.Add(1)
	d.expires()
	e.finish(s, makeRef(w.gen(), i), w.state(), d.ending(deadline))
	return noTick, w.state() >= pending // its outcome may be left lying
}

// ending is what the calls share that expire in this run by the same deadline.
func (d *driver[T]) ending(deadline Deadline) *ending {
	place := &d.endings[deadline]
	if *place == nil {
		*place = &ending{at: d.e.now(), status: Expired, deadline: deadline}
	}
	return *place
}

// expireOutcome reclaims a settled call that nobody came for in time, or says when
// to look again.
func (d *driver[T]) expireOutcome(s *slot[T], i uint32, w word, now wheel.Tick) (next wheel.Tick, retry bool) {
	e := d.e
	details := e.table.dir.Load().details.at(i)
	if e.grace < 0 || details == nil {
		return noTick, false
	}
	l := limits(details.limits.Load())
	var due wheel.Tick
	switch {
	case l == 0:
		return noTick, false // under pressure only
	case l.far():
		current := e.now()
		due = e.ticks.deadline(after(e.table.farOf(i).Load(), time.Duration(e.grace)), current)
	case l.total(w) == noTick:
		due = d.later(w.tick(), e.grace) // an idle deadline alone: the last one counts
	default:
		due = d.later(l.total(w), e.grace)
	}
	if due.After(now) {
		return due, false
	}
	return noTick, !e.reclaim(s, makeRef(w.gen(), i), w)
}

// later is the tick that lies a number of nanoseconds after t.
func (d *driver[T]) later(t wheel.Tick, ns int64) wheel.Tick {
	return someTick(t + wheel.Tick(min(d.e.ticks.count(max(ns, 0))+1, nearTicks)))
}
