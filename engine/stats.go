package engine

import "sync/atomic"

// Stats is a snapshot of an engine's counters. Each is exact when nothing else
// runs; taken in the middle of traffic, they may be apart by the calls in
// transit, and none ever runs backwards below zero.
//
// What the hot path would have to count is not counted but derived: Registered
// from the slots' generations, Resolved by subtraction. A snapshot therefore
// walks the table, about a millisecond per 100,000 slots.
type Stats struct {
	// Registered calls, ever. It is the sum of the six below and Pending.
	Registered uint64
	// Resolved, Rejected, Cancelled, Expired and Failed are the ways they ended.
	Resolved, Rejected, Cancelled, Expired, Failed uint64

	// Late answers came for a call that had ended without one, Duplicate ones for a
	// call that had been answered, Unknown ones for an id that was never given.
	// For a call that is not the last of its slot, an answer is late when that slot
	// saw a call end unanswered since, else a duplicate. Ids of callers are
	// remembered for about the last thousand calls; what is forgotten is unknown.
	Late, Duplicate, Unknown uint64
	// Reclaimed outcomes nobody came for, and reserved ids nobody registered.
	Reclaimed uint64
	// Refused registrations: no room, or an id in flight.
	Refused uint64
	// Panics of callbacks, observers and hooks.
	Panics uint64

	// Pending calls, now.
	Pending int
	// Slots allocated so far: the peak in flight, and at most one batch of 16 per P.
	Slots int

	// WheelRuns counts wake-ups of the driver, WheelVisits the slots it looked at,
	// Staged the deadlines that were nearer than the wheel knew.
	WheelRuns, WheelVisits, Staged uint64
}

// counter names what is counted as it happens: what is rare.
type counter uint8

const (
	countRejected counter = iota
	countCancelled
	countExpired
	countFailed
	countLate
	countDuplicate
	countUnknown
	countReclaimed
	countRefused
	countPanics
	countUnregistered // reserved ids that were taken back: a generation without a call
	counters
)

// counts are one stripe's counters; a sum over the stripes is the total.
type counts [counters]atomic.Uint64

func (e *Engine[T]) count(c counter) { e.countMany(c, 1) }

func (e *Engine[T]) countMany(c counter, n int) {
	tk := e.free.hold()
	tk.counts[c].Add(uint64(n))
	e.free.release(tk)
}

// total sums one counter up.
func (e *Engine[T]) total(c counter) (n uint64) {
	for k := range e.free.stripes {
		if st := e.free.stripes[k].Load(); st != nil {
			n += st.counts[c].Load()
		}
	}
	return n
}

// endings counts the calls that ended with status s, except Resolved.
var endingCounter = [...]counter{
	Rejected:  countRejected,
	Cancelled: countCancelled,
	Expired:   countExpired,
	Failed:    countFailed,
}

// Stats takes a snapshot of the counters.
func (e *Engine[T]) Stats() Stats {
	s := Stats{
		Rejected:    e.total(countRejected),
		Cancelled:   e.total(countCancelled),
		Expired:     e.total(countExpired) + e.driver.expired.Load(),
		Failed:      e.total(countFailed),
		Late:        e.total(countLate),
		Duplicate:   e.total(countDuplicate),
		Unknown:     e.total(countUnknown),
		Reclaimed:   e.total(countReclaimed),
		Refused:     e.total(countRefused),
		Panics:      e.total(countPanics),
		WheelRuns:   e.driver.runs.Load(),
		WheelVisits: e.driver.visits.Load(),
		Staged:      e.driver.stagedTotal.Load(),
	}
	// Endings were read before generations, so what remains below is not negative.
	unregistered := e.total(countUnregistered)
	slots := min(int(e.free.fresh.Load()), e.table.slots())
	s.Slots = slots
	for i := range slots {
		w := e.table.slot(uint32(i)).load()
		s.Registered += uint64(w.gen())
		switch {
		case w.live():
			s.Pending++
		case w.state() == reserved:
			s.Registered--
		}
	}
	s.Registered -= min(unregistered, s.Registered)
	done := s.Rejected + s.Cancelled + s.Expired + s.Failed + uint64(s.Pending)
	s.Resolved = s.Registered - min(done, s.Registered)
	return s
}
