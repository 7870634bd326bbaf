package engine

import (
	"fmt"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/wheel"
)

// Tuning is what only tests set; a zero field leaves the engine as users get it.
type Tuning struct {
	GenBits  int        // of a slot's generation; 28
	SlotsMax int        // bound of slots, spent ones included
	Stripes  int        // of the free list; one per P
	Presize  int        // of a shard of the index, in entries
	Counted  uint64     // numbers that NextID has counted already
	Origin   wheel.Tick // of the engine's time zero
}

// NewTuned is New with the sizes at which rare things become common.
func NewTuned[T any](o Options[T], t Tuning) (*Engine[T], error) {
	if t.GenBits == 0 {
		t.GenBits = genBits
	}
	if t.SlotsMax == 0 {
		t.SlotsMax = SlotsMax
	}
	return newTuned(o, tuning{genBits: t.GenBits, slotsMax: t.SlotsMax, stripes: t.Stripes, presize: t.Presize, counted: t.Counted, origin: t.Origin})
}

// DepthMax is how deep callbacks nest.
const DepthMax = depthMax

// NearTicks is how far ahead a slot's word can say that a deadline lies.
const NearTicks = nearTicks

// Census is where the slots of a quiet engine are.
type Census struct {
	Allocated, Free, Retired, InUse int
	Indexed                         int // entries of the index of callers' ids
	Resident                        int // slots in the wheel
	Values                          int // outcomes, callbacks and errors that free slots still hold
}

// Census counts a quiet engine's slots. It walks the free stacks as take does, so
// a slot that is lost, or stands on two of them, is an error.
func (e *Engine[T]) Census(isZero func(T) bool) (c Census, err error) {
	seen := map[uint32]bool{}
	for k := range e.free.stripes {
		st := e.free.stripes[k].Load()
		if st == nil {
			continue
		}
		for top := topOf(st.head.Load()); top != 0; top = e.table.slot(top - 1).load().next() {
			if seen[top-1] {
				return c, fmt.Errorf("slot %d is free twice", top-1)
			}
			seen[top-1] = true
		}
		if d := depthOf(st.head.Load()); d != 0 {
			return c, fmt.Errorf("stripe %d counts %d callbacks running", k, d)
		}
	}
	c.Allocated, c.Free, c.Retired = int(e.free.fresh.Load()), len(seen), int(e.free.retired.Load())
	for i := range e.free.fresh.Load() {
		s := e.table.slot(i)
		w := s.load()
		if s.residentTick() != noTick {
			c.Resident++
		}
		if w.state() != free {
			c.InUse++
			if seen[i] {
				return c, fmt.Errorf("slot %d is on a stack in state %v", i, w.state())
			}
			continue
		}
		if end := e.table.dir.Load().endings.at(i); !isZero(s.value) || s.notify != nil || end != nil && *end != nil {
			c.Values++
		}
	}
	if e.index != nil {
		for k := range e.index.shards {
			if m := e.index.shards[k].Load(); m != nil {
				c.Indexed += m.Size()
			}
		}
	}
	if c.Free+c.Retired+c.InUse != c.Allocated {
		err = fmt.Errorf("slots do not add up: %+v", c)
	}
	return c, err
}

// IndexRoom is how many entries the index of callers' ids has room for. It may be
// called at any time.
func (e *Engine[T]) IndexRoom() (room int) {
	for k := range e.index.shards {
		if m := e.index.shards[k].Load(); m != nil {
			room += m.Stats().Capacity
		}
	}
	return room
}

// Kept reports whether the call's slot is still its own: it is pending, or its
// outcome is there.
func (c Call[T]) Kept() bool {
	if c.ref == 0 {
		return false
	}
	w := c.e.table.slot(c.ref.index()).load()
	return w.gen() == c.ref.gen() && w.state() != free
}

// Gen is the generation of the call's slot, 0 for a call that has none.
func (c Call[T]) Gen() uint32 { return c.ref.gen() }

// Reserved reports whether a minted id waits for being registered.
func (e *Engine[T]) Reserved(id codec.ID) bool {
	s, r, ok := e.find(id)
	return ok && s.load().is(r.gen(), reserved)
}

// GenOf is the generation in a minted id.
func GenOf(id codec.ID) uint32 {
	n, _ := id.Int()
	return ref(n).gen()
}

// Batch is how many slots are handed out from the end of the table at once.
const Batch = batch

// Memory is for how many slots there is memory, and for how many of them from the
// first on there are details.
func (e *Engine[T]) Memory() (all, withDetails int) {
	all = e.table.slots()
	for withDetails < all && e.table.dir.Load().details.at(uint32(withDetails)) != nil {
		withDetails += chunkSize
	}
	return all, withDetails
}

// GrowsAhead reports whether a goroutine makes memory ahead of need.
func (e *Engine[T]) GrowsAhead() bool { return e.table.ahead.Load() }

// Resting reports whether the driver is between two runs.
func (e *Engine[T]) Resting() bool { return !e.driver.busy.Load() }

// Parked reports whether a waiter sleeps on the call, or is about to.
func (c Call[T]) Parked() bool {
	w := c.e.table.slot(c.ref.index()).load()
	return w.attendable(c.ref.gen()) && w.state()&parkedBit != 0
}
