package engine

import (
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/wheel"
)

// Engine is a table of pending calls whose outcomes are of type T. Make one with
// [New]; all its methods are safe for concurrent use.
type Engine[T any] struct {
	// Written at New, or seldom; read by every call.
	table      table[T]
	failure    atomic.Pointer[failure] // the stored failure; not nil means closed
	inspecting atomic.Bool             // see inspect.go
	ticks      ticker
	clock      Clock     // nil: the system's, read directly
	start      time.Time // of the system's clock
	offset     time.Duration
	timeout    time.Duration // 0 is none
	idle       time.Duration // 0 or negative is none
	near       time.Duration // what the tick in a word can say, and the longest idle budget
	grace      int64         // nanoseconds; negative is never
	index      *index        // nil when ids are minted
	overflow   Overflow
	matchText  bool
	simple     bool // no observer and no Detach: an outcome is stored as it comes
	observer   func(Settlement)
	onAbandon  func(Abandonment)
	onExpiring func(bool)
	detach     func(v, into T) T
	onPanic    func(any, []byte)

	free   freelist[T]
	room   room[T]
	driver driver[T]
	gate   gate
	swept  atomic.Int64 // when reclaimUnderPressure last ran

	counted  atomic.Uint64 // numbers that NextID has looked at, with callers' ids
	countMax uint64        // the last of them before 1 again
}

// failure is the error of a closed table; the first one stays.
type failure struct{ err error }

// tuning is what only tests set: sizes at which rare things become common.
type tuning struct {
	genBits  int
	slotsMax int
	stripes  int // 0 is one per P
	presize  int // of a shard of the index, in entries; 0 is as Options say
	counted  uint64
	origin   wheel.Tick
}

// New makes an engine. It starts no goroutine and no timer, and an engine that
// was never used holds less than 4 KiB. It returns an *OptionError.
func New[T any](o Options[T]) (*Engine[T], error) {
	return newTuned(o, tuning{genBits: genBits, slotsMax: SlotsMax})
}

func newTuned[T any](o Options[T], t tuning) (*Engine[T], error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if o.IdleTimeout > near(o.Tick) {
		return nil, idleTooLong(o.IdleTimeout)
	}
	e := &Engine[T]{
		near:       near(o.Tick),
		idle:       o.IdleTimeout,
		ticks:      newTicker(o.Tick, t.origin),
		clock:      o.Clock,
		timeout:    max(o.Timeout, 0),
		grace:      int64(o.Grace),
		overflow:   o.Overflow,
		matchText:  o.MatchText,
		simple:     o.Detach == nil && o.Observer == nil,
		observer:   o.Observer,
		onAbandon:  o.OnAbandon,
		onExpiring: o.Expiring,
		detach:     o.Detach,
		onPanic:    o.OnPanic,
	}
	if _, ok := o.Clock.(systemClock); ok || o.Clock == nil {
		e.clock = nil
		e.start = time.Now()
	} else {
		e.offset = o.Clock.Now()
	}
	if o.CallerIDs {
		e.index = newIndex(o.Shards, o.MaxPending)
		if t.presize > 0 {
			e.index.sized = t.presize
		}
	}
	e.countMax = uint64(o.CountMax)
	e.counted.Store(t.counted)
	e.swept.Store(never)
	e.table.dir.Store(&directory[T]{})
	e.free.init(&e.table, uint32(min(o.MaxPending, t.slotsMax)), uint32(t.slotsMax), 1<<t.genBits-1, t.stripes)
	e.driver.init(e)
	return e, nil
}

// now is the engine's time in nanoseconds: it begins near zero.
func (e *Engine[T]) now() int64 {
	if e.clock == nil {
		return int64(time.Since(e.start))
	}
	return max(int64(e.clock.Now()-e.offset), 0)
}

// Now is the time that the engine counts by: what CallOptions.Started takes.
func (e *Engine[T]) Now() time.Duration { return time.Duration(e.now()) }

// timer starts a timer of the engine's clock.
func (e *Engine[T]) timer(d time.Duration, f func()) Timer {
	if e.clock == nil {
		return time.AfterFunc(d, f)
	}
	return e.clock.AfterFunc(d, f)
}

// minted makes the id of a call of an engine that mints them.
func (r ref) minted() codec.ID { return codec.IntID(int64(r)) }

// locate finds the reference that an id names, whether or not its call lives.
func (e *Engine[T]) locate(id codec.ID) (ref, bool) {
	if e.index != nil {
		return e.index.load(id, e.index.hash(id))
	}
	n, ok := id.Int()
	return ref(n), ok && ref(n) <= refMax
}

// idOf is the id of the call r, which the caller must own.
func (e *Engine[T]) idOf(r ref) codec.ID {
	if e.index == nil {
		return r.minted()
	}
	return e.table.key(r.index())
}

// find locates a call and its slot. The slot may be another call's by now.
func (e *Engine[T]) find(id codec.ID) (*slot[T], ref, bool) {
	r, ok := e.locate(id)
	if !ok {
		return nil, 0, false
	}
	s := e.table.slot(r.index())
	return s, r, s != nil
}

// findMinted is find for minted ids.
func (e *Engine[T]) findMinted(id codec.ID) (*slot[T], ref) {
	n, ok := id.Int()
	if r := ref(n); ok && r <= refMax {
		return e.table.slot(r.index()), r
	}
	return nil, 0
}
