package engine

import (
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/wheel"
)

// driver owns the wheel and the one timer of an engine. It has no goroutine: the
// timer runs it when the wheel has something to do, and nothing runs when nothing
// is armed.
//
// A slot is in the wheel at most once, and stays there when its call settles. The
// next call of the slot uses that residency if its deadline is not nearer: so in
// steady state neither arming nor cancelling touches the wheel, and the wheel's
// memory follows the peak in flight, not calls times timeout (I5). When the wheel
// gets to a resident, the driver asks the slot's word: due, so expire it; pending
// until later, so move it; free, so drop it.
type driver[T any] struct {
	e *Engine[T]

	wake   atomicWake // when the driver will run
	_      [64]byte
	staged atomic.Uint32 // top of the list of staged slots, plus one
	_      [64]byte
	busy   atomic.Bool // held by the goroutine that runs it
	again  atomic.Bool // a run was asked for

	runs, visits, stagedTotal, expired atomic.Uint64

	// The holder of busy owns these.
	wheel           *wheel.Wheel
	taken           uint32                       // what is left of a list that was taken, plus one
	entries         int                          // for which the wheel has room
	due             []uint32                     // slots that came out of the wheel,
	visited         int                          // and how many of them were visited
	drained, looked uint64                       // what this turn adds to stagedTotal and visits
	endings         [DeadlineContext + 1]*ending // of this run
	expiring        bool                         // Options.Expiring was told that calls expire

	mu      sync.Mutex // protects the timer, and wake while the driver does not run
	timer   Timer
	stopped bool
}

const (
	// dueMax is how many slots come out of the wheel at a time; visitsMax is how
	// many one run looks at before it lets the scheduler have its goroutine.
	dueMax    = 256
	visitsMax = 1 << 14
)

// wakeAt says when the driver will run: asleep, at a tick, or now.
type wakeAt uint64

const (
	asleep  wakeAt = 0
	awake   wakeAt = 1 << 32
	atTick  wakeAt = 2 << 32
	wakeOff        = 32
)

// before reports whether the driver will run at tick or before it.
func (w wakeAt) before(tick wheel.Tick) bool {
	switch w >> wakeOff << wakeOff {
	case awake:
		return true
	case atTick:
		return !tick.Before(wheel.Tick(w))
	}
	return false
}

type atomicWake struct{ v atomic.Uint64 }

func (a *atomicWake) Load() wakeAt   { return wakeAt(a.v.Load()) }
func (a *atomicWake) Store(w wakeAt) { a.v.Store(uint64(w)) }

func (d *driver[T]) init(e *Engine[T]) { d.e = e }

// hurry makes the driver run at tick or before it.
func (d *driver[T]) hurry(tick wheel.Tick) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stopped && !d.wake.Load().before(tick) {
		d.set(tick)
	}
}

// set winds the timer for tick. The caller holds d.mu.
func (d *driver[T]) set(tick wheel.Tick) {
	d.wake.Store(atTick | wakeAt(tick))
	wait := d.e.ticks.until(tick, d.e.now())
	if d.timer == nil {
		d.timer = d.e.timer(wait, d.run)
	} else {
		d.timer.Reset(wait)
	}
}

// stop ends the driver of a closed table: nothing is pending any more.
func (d *driver[T]) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	if d.timer != nil {
		d.timer.Stop()
	}
}

// run is what the timer calls. Runs do not overlap: one that finds another under
// way asks it to go on.
func (d *driver[T]) run() {
	d.again.Store(true)
	for d.again.Load() && d.busy.CompareAndSwap(false, true) {
		d.again.Store(false)
		d.turn()
	}
}

// turn is one bounded run; it gives busy back. It is prepared for a function of the
// user that ends its goroutine: then the timer runs the next turn at once, and that
// begins with the slots that this one did not come to.
func (d *driver[T]) turn() {
	defer d.busy.Store(false)
	d.runs.Add(1)
	// From here until wake is stored again, whoever stages leaves it at that.
	d.mu.Lock()
	stopped := d.stopped
	d.wake.Store(awake)
	d.mu.Unlock()
	if stopped {
		return
	}
	now := d.e.ticks.at(d.e.now())
	if d.wheel == nil {
		d.wheel = wheel.New(now)
		d.due = make([]uint32, 0, dueMax)
	}
	if d.wheel.Len() == 0 {
		// Ticks compare within 2^31 of each other, and nothing moved an empty wheel
		// for however long there was nothing to do: place nothing against its old time.
		d.wheel.Advance(now, nil)
	}
	more := true
	defer func() {
		clear(d.endings[:])
		d.rewind(now, more)
		if !more {
			// What was staged before wake was stored is on the list now.
			if placed, left := d.drain(now, false); placed {
				d.rewind(now, left)
			}
		}
		d.stagedTotal.Add(d.drained)
		d.visits.Add(d.looked)
		d.drained, d.looked = 0, 0
		d.expiredAll()
	}()
	d.visitDue(now) // before any of them can be placed again
	_, left := d.drain(now, true)
	more = d.advance(now) || left
}

// advance brings the wheel to now and visits what comes out; true when it left
// something for another run.
func (d *driver[T]) advance(now wheel.Tick) (more bool) {
	for visits := 0; visits < visitsMax; visits += dueMax {
		d.due, more = d.wheel.Advance(now, d.due[:0])
		d.visited = 0
		// The slots lie far apart: ask for all of them before waiting for the first.
		for _, i := range d.due {
			d.e.table.slot(i).load()
		}
		d.visitDue(now)
		if !more {
			return false
		}
	}
	return more
}

// visitDue visits the slots that came out of the wheel. One whose visit does not
// return is visited again: its outcome may be left lying.
func (d *driver[T]) visitDue(now wheel.Tick) {
	d.looked += uint64(len(d.due) - d.visited)
	for ; d.visited < len(d.due); d.visited++ {
		i := d.due[d.visited]
		d.visit(d.e.table.slot(i), i, now)
	}
}

// rewind winds the timer for what the wheel has to do next.
func (d *driver[T]) rewind(now wheel.Tick, more bool) {
	next, ok := d.wheel.Next()
	if more {
		next, ok = now, true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.stopped:
	case ok:
		d.set(next)
	default:
		d.wake.Store(asleep)
	}
}
