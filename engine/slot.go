package engine

import (
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/internal/invariants"
	"github.com/correlator-go/correlator/wheel"
)

// slot is what the hot path touches of a call: one cache line of 64 bytes when T
// is a slice. Everything else of a call lies in columns of the table.
//
// Who may touch a field that is not atomic:
//
//   - value: whoever took the slot, until it stores the live word, which may leave
//     CallOptions.Into there; the winner between claim and publish; then whoever
//     consumes.
//   - notify, start: whoever took the slot, until it stores the live word; then the
//     winner, after its claim. start is also read by inspection (see inspect.go).
type slot[T any] struct {
	word atomic.Uint64

	// resident is the tick at which the wheel will look at this slot, or noTick.
	// Only the driver writes it.
	resident atomic.Uint32
	// stage links slots staged for the driver: stagedMark | slot below + 1, or 0.
	stage atomic.Uint32

	value  T
	notify func(Outcome[T])
	start  int64 // when the call was registered, in nanoseconds of the engine's time

	// sent is the generation of the last call of this slot that was dispatched.
	sent atomic.Uint32
	// unanswered is the generation of the last call of this slot that ended without
	// an answer: an answer that comes too late for it or for an older one is late,
	// one for a newer one is a duplicate.
	unanswered atomic.Uint32
}

const stagedMark = 1 << 31

func (s *slot[T]) load() word { return word(s.word.Load()) }

func (s *slot[T]) swap(from, to word) bool {
	won := s.word.CompareAndSwap(uint64(from), uint64(to))
	if invariants.Enabled && won {
		legal(from, to)
	}
	return won
}

// store sets the word of a slot that the caller owns.
func (s *slot[T]) store(w word) {
	if invariants.Enabled {
		legal(s.load(), w)
	}
	s.word.Store(uint64(w))
}

func (s *slot[T]) residentTick() wheel.Tick { return wheel.Tick(s.resident.Load()) }

// claim settles the call gen of this slot: the one caller that gets true has won
// and owns value, notify and start until it publishes or frees the slot (I1). It
// returns the word that it found: what was attended, or why there was no call.
func (s *slot[T]) claim(gen uint32) (word, bool) {
	for {
		w := s.load()
		if w.gen() != gen || !w.live() {
			return w, false
		}
		if s.swap(w, w.claimed()) {
			return w, true
		}
	}
}

// claimLive is claim for whatever call the slot has.
func (s *slot[T]) claimLive() (word, bool) {
	for {
		w := s.load()
		if !w.live() {
			return w, false
		}
		if s.swap(w, w.claimed()) {
			return w, true
		}
	}
}

// details is what a call has beyond its slot: 32 bytes, half a line, in a column
// that an engine whose calls are all bare (no method, no deadline) never makes.
//
// method and budget are written like slot.start. limits is atomic, because Touch
// and the driver read it without owning the call; what they read may belong to the
// next call of the slot, and then the word's compare-and-swap fails.
type details struct {
	method string
	budget int64 // of the total deadline, in nanoseconds; negative when it is the context's
	limits atomic.Uint64
}

// limits are a call's deadlines:
//
//	total deadline tick : 32 | far : 1 | plain : 1 | idle ticks : 30
//
// The tick is noTick when there is no total deadline; the idle ticks are zero when
// there is no idle one. A far total deadline is too far for a tick: it is found in
// the column far, and the tick means nothing. Nor does it where the limits are
// plain: the total deadline, which nothing moves, is the only one, so the tick in
// the call's word says it. Limits are only stored when they differ from those of
// the slot's last call, and plain ones do not.
type limits uint64

const (
	limitsShift        = 32
	farBit      limits = 1 << 31
	plain       limits = 1 << 30
	idleMask           = plain - 1
)

// total is the tick of the total deadline of a call whose word is w.
func (l limits) total(w word) wheel.Tick {
	if l == plain {
		return w.tick()
	}
	return wheel.Tick(l >> limitsShift)
}

func (l limits) idle() uint32 { return uint32(l & idleMask) }
func (l limits) far() bool    { return l&farBit != 0 }

// ending is how a call that got no value ended. It is not changed any more, so
// calls that end in one breath share one.
type ending struct {
	err      error // the bare cause
	at       int64 // nanoseconds of the engine's time
	status   Status
	deadline Deadline
	closed   bool // err is the stored failure of a closed table
}

func (end *ending) elapsed(start int64) time.Duration { return time.Duration(max(end.at-start, 0)) }

// abandoned reports whether the peer may still be at work on the call.
func (end *ending) abandoned() bool { return end.status == Cancelled || end.status == Expired }
