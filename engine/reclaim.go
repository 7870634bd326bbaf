package engine

import "time"

// Settled calls that nobody comes for must not fill the table. A call with a
// deadline has its slot in the wheel, and the driver reclaims it when its total
// deadline and the grace are over. Calls without any deadline, and ids that were
// reserved and not registered, cost nothing while there is room: only a table that
// is full looks for them. Its first look marks them with the time, in the word's
// tick, which they do not use; a later look reclaims what has been marked for as
// long as a call of default timeout would have been kept.

// pressureInterval is how often a full table is searched, at most.
const pressureInterval = time.Second

// linger is how long a marked slot is kept, in nanoseconds.
func (e *Engine[T]) linger() int64 {
	if e.timeout == 0 {
		return after(int64(DefaultTimeout), time.Duration(e.grace))
	}
	return after(int64(e.timeout), time.Duration(e.grace))
}

// reclaimUnderPressure searches a full table and reports whether it won a slot.
func (e *Engine[T]) reclaimUnderPressure() bool {
	if e.grace < 0 {
		return false
	}
	now := e.now()
	last := e.swept.Load()
	if last != never && now-last < int64(pressureInterval) || !e.swept.CompareAndSwap(last, now) {
		return false
	}
	mark, kept := min(e.ticks.deadline(now, now), registering-1), e.ticks.count(e.linger())
	won := false
	for i := range min(e.free.fresh.Load(), uint32(e.table.slots())) {
		s := e.table.slot(i)
		w := s.load()
		if !e.reclaimable(i, w) {
			continue
		}
		if w.tick() == noTick {
			s.swap(w, w.withTick(mark))
			continue
		}
		if age := mark.Sub(w.tick()); age >= 0 && int64(age) < kept {
			continue
		}
		won = e.reclaim(s, makeRef(w.gen(), i), w) || won
	}
	return won
}

// never is what swept holds before the first search.
const never = -1

// reclaimable reports whether w is that of a slot which only pressure reclaims.
// What it reads beside the word may be another call's; then the swap on w fails.
func (e *Engine[T]) reclaimable(i uint32, w word) bool {
	switch w.state() {
	case reserved:
		return e.index == nil && w.tick() != registering
	case answered, ended:
		d := e.table.dir.Load().details.at(i)
		return d == nil || d.limits.Load() == 0
	}
	return false
}

// reclaim takes the slot of a call that nobody came for.
func (e *Engine[T]) reclaim(s *slot[T], r ref, w word) bool {
	if w.state() == reserved {
		if !e.unreserve(s, r, w) {
			return false
		}
	} else if _, status, _ := e.consume(s, r, w); status == Pending {
		return false
	}
	e.count(countReclaimed)
	return true
}

// unreserve takes back a slot that NextID reserved and nobody registered.
func (e *Engine[T]) unreserve(s *slot[T], r ref, w word) bool {
	if !s.swap(w, makeWord(0, r.gen(), free)) {
		return false
	}
	e.count(countUnregistered)
	e.freeSlot(s, r)
	return true
}
