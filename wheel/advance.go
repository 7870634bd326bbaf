package wheel

import "github.com/correlator-go/correlator/internal/invariants"

// MovesMax is the most entries that one call of Advance moves between buckets, on
// top of those it hands out. It bounds a call to some tens of microseconds when a
// bucket holds a million entries.
const MovesMax = 4096

// Advance brings the wheel to now and appends the entries that are due to due,
// which is the caller's and never grows: at most cap(due)-len(due) entries come
// out. They are no longer resident. It returns the extended slice, and whether
// work is left because the room or [MovesMax] ran out; then call again with the
// same now. Scheduling and cancelling in between is fine. With no room at all
// nothing comes out, and more stays true while something is due.
//
// A now that is earlier than the wheel's changes nothing: a clock may step back.
// The wheel takes now for later when it lies less than 2^31 ticks ahead, so
// residents want an Advance at least that often (at the time of [Wheel.Next] is
// often enough). An empty wheel has nothing to keep in order and takes over any
// now, however long it stood still.
func (w *Wheel) Advance(now Tick, due []uint32) (_ []uint32, more bool) {
	if w.resident == 0 {
		w.now = now
		return due, false
	}
	if now.Before(w.now) {
		return due, false
	}
	for moves := 0; ; {
		first := w.heads[w.front()]
		if first == 0 {
			ticks, ok := w.next()
			if !ok || ticks > uint32(now-w.now) {
				break
			}
			w.reach(w.now + Tick(ticks))
			continue
		}
		i := first - 1
		e := w.entry(i)
		if e.at.After(w.now) {
			if moves == MovesMax {
				return due, true
			}
			moves++
			w.unlink(e)
			w.push(bucketFor(w.now, e.at), i, e)
			continue
		}
		if len(due) == cap(due) {
			return due, true
		}
		w.unlink(e)
		w.resident--
		due = append(due, i)
	}
	w.now = now
	if invariants.Enabled {
		w.verifyDone()
	}
	return due, false
}

// Next returns the moment at which Advance has something to do: never later than
// the earliest deadline, and exactly it once that lies in level 0. It is earlier
// when a bucket of a level above has to be placed again first, at most once a
// level on the way to a deadline. An overdue entry makes it [Wheel.Now]. It
// reports false when the wheel is empty.
func (w *Wheel) Next() (Tick, bool) {
	if w.heads[w.front()] != 0 {
		return w.now, true
	}
	ticks, ok := w.next()
	if !ok {
		return w.now, false
	}
	return w.now + Tick(ticks), true
}
