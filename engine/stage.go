package engine

import "github.com/correlator-go/correlator/wheel"

// stage tells the driver of a slot whose deadline is nearer than the wheel will
// look at it: the slot goes on a lock-free list, and if the driver sleeps beyond
// tick it is woken for it. What is not that near waits until it wakes anyway.
//
// The driver clears a slot's stage before it looks at the word, and the one who
// stages stored the word before: a slot found staged is a slot still to be looked
// at. Likewise the driver stores when it will wake before it takes the list for
// the last time, and here the list is added to before that is looked at.
func (d *driver[T]) stage(s *slot[T], i uint32, tick wheel.Tick) {
	if s.stage.Load() == 0 && s.stage.CompareAndSwap(0, stagedMark) {
		for {
			head := d.staged.Load()
			s.stage.Store(stagedMark | head)
			if d.staged.CompareAndSwap(head, i+1) {
				break
			}
		}
	}
	if d.wake.Load().before(tick) {
		return
	}
	d.hurry(tick)
}

// drain places what is staged in the wheel, a bounded number of slots at a time; it
// reports whether it placed any, and whether some are left. What is due by now it
// visits at once, if it may: calls that were begun since the driver's last run, and
// expire in this one, never see the wheel. Only the driver calls it.
func (d *driver[T]) drain(now wheel.Tick, visit bool) (placed, more bool) {
	for n := 0; n < visitsMax; n++ {
		if d.taken == 0 {
			if d.taken = d.staged.Swap(0); d.taken == 0 {
				break
			}
		}
		i := d.taken - 1
		s := d.e.table.slot(i)
		d.taken = s.stage.Load() &^ stagedMark
		s.stage.Store(0)
		d.drained++
		placed = true
		if w := s.load(); !visit || !w.live() || w.tick() == noTick || w.tick().After(now) {
			d.place(s, i)
			continue
		}
		if s.residentTick() != noTick {
			d.wheel.Cancel(i)
		}
		d.due, d.visited = append(d.due[:0], i), 0
		d.visitDue(now)
	}
	return placed, d.taken != 0 || placed && d.staged.Load() != 0
}

// place puts a slot into the wheel for the deadline in its word, unless the wheel
// looks at it before that anyway.
func (d *driver[T]) place(s *slot[T], i uint32) {
	w := s.load()
	if !w.live() && w.state() != answered && w.state() != ended && !w.settlingNow() || w.tick() == noTick {
		return
	}
	if at, ok := d.wheel.At(i); ok {
		if !w.tick().Before(at) {
			return
		}
		d.wheel.Cancel(i)
	}
	d.schedule(s, i, w.tick())
}

// schedule puts a slot that is not resident into the wheel.
func (d *driver[T]) schedule(s *slot[T], i uint32, tick wheel.Tick) {
	if int(i) >= d.entries {
		d.entries = int(d.e.free.fresh.Load()) // not what the table has in reserve
		d.wheel.Grow(d.entries)
	}
	d.wheel.Schedule(i, tick)
	s.resident.Store(uint32(tick))
}
