package engine

import "github.com/correlator-go/correlator/wheel"

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
// for a deadline too far to say, it is moved on instead, and returned; and when
// the call is another than w says, it has to be looked at again.
func (d *driver[T]) expire(s *slot[T], i uint32, w word) (next wheel.Tick, retry bool) {
	e := d.e
	details := e.table.dir.Load().details.at(i)
	totalAt, idle := details.total.Load(), details.idle.Load()
	now := e.now()
	if idle == 0 && totalAt > now {
		next = e.ticks.deadline(totalAt, now)
		return next, !s.swap(w, w.withTick(next))
	}
	end := ending{status: Expired, deadline: DeadlineTotal}
	switch {
	case totalAt == 0 || totalAt > now:
		end.deadline = DeadlineIdle
	case totalAt&fromContext != 0:
		end.deadline = DeadlineContext
	}
	if !s.swap(w, w.claimed()) {
		return noTick, true
	}
	s.unanswered.Store(w.gen())
	e.finish(s, makeRef(w.gen(), i), w, end)
	return noTick, false
}

// expireOutcome reclaims a settled call that nobody came for in time, or says when
// to look again.
func (d *driver[T]) expireOutcome(s *slot[T], i uint32, w word, now wheel.Tick) (next wheel.Tick, retry bool) {
	e := d.e
	details := e.table.dir.Load().details.at(i)
	if e.grace < 0 || details == nil {
		return noTick, false
	}
	totalAt := details.total.Load()
	if totalAt == 0 {
		if details.idle.Load() == 0 {
			return noTick, false // under pressure only
		}
		// An idle deadline alone: the last one it had counts.
		if due := d.later(w.tick(), e.grace); due.After(now) {
			return due, false
		}
	} else if current := e.now(); totalAt+e.grace > current {
		return e.ticks.deadline(totalAt+e.grace, current), false
	}
	return noTick, !e.reclaim(s, makeRef(w.gen(), i), w)
}

// later is the tick that lies a number of nanoseconds after t.
func (d *driver[T]) later(t wheel.Tick, ns int64) wheel.Tick {
	return someTick(t + wheel.Tick(min(d.e.ticks.count(max(ns, 0))+1, nearTicks)))
}
