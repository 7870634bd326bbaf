package wheel

import "github.com/correlator-go/correlator/internal/invariants"

// Wheel is a timing wheel. The zero value is ready to use at tick 0; it has no
// entries until [Wheel.Grow]. It must not be copied after first use, and has one
// owner at a time (see the package text).
type Wheel struct {
	now      Tick
	resident int
	occupied [levels]uint64  // bit b of level l: heads[l<<levelBits|b] != 0
	heads    [buckets]uint32 // first entry of each bucket, plus one
	chunks   []*chunk
}

// New returns an empty wheel at the given time.
func New(now Tick) *Wheel { return &Wheel{now: now} }

// Len returns the number of residents.
func (w *Wheel) Len() int { return w.resident }

// Now returns the wheel's time: that of the last Advance, or the moment in
// between at which an Advance that reported more stands.
func (w *Wheel) Now() Tick { return w.now }

// Schedule puts entry i into the wheel, due at the tick at. A deadline that is
// now or past is due in the next Advance; one more than [AheadMax] ticks ahead of
// [Wheel.Now] counts as past. The entry must exist and must not be resident:
// Schedule panics otherwise, because going on would tear two lists.
func (w *Wheel) Schedule(i uint32, at Tick) {
	e := w.entry(i)
	if e.prev != 0 {
		panic("wheel: Schedule of a resident entry")
	}
	e.at = at
	w.push(bucketFor(w.now, at), i, e)
	w.resident++
	if invariants.Enabled {
		w.verify()
	}
}

// Cancel takes entry i out of the wheel and reports whether it was resident. An
// entry that does not exist is not resident.
func (w *Wheel) Cancel(i uint32) bool {
	if !w.exists(i) {
		return false
	}
	e := w.entry(i)
	if e.prev == 0 {
		return false
	}
	w.unlink(e)
	w.resident--
	if invariants.Enabled {
		w.verify()
	}
	return true
}

// At returns the deadline of entry i, and whether it is resident. An entry that
// does not exist is not resident.
func (w *Wheel) At(i uint32) (Tick, bool) {
	if !w.exists(i) {
		return 0, false
	}
	e := w.entry(i)
	if e.prev == 0 {
		return 0, false
	}
	return e.at, true
}

func (w *Wheel) exists(i uint32) bool { return int(i>>chunkBits) < len(w.chunks) }
