package engine

import (
	"context"
	"time"

	"github.com/correlator-go/correlator/codec"
)

// Begin registers a call under a fresh id: one that the engine mints, or with
// CallerIDs the next of NextID.
//
// ctx is used to wait for room under OverflowWait, and its deadline, when it has
// one, is a deadline of the call; it may be nil. Begin does not look at whether it
// has ended already.
//
// A closed engine returns a call that has already failed with the stored failure:
// it has no slot, so each Wait gives that error again. Errors: ErrFull,
// ErrIDsExhausted, *OptionError, and under OverflowWait the cause of ctx's end.
func (e *Engine[T]) Begin(ctx context.Context, o CallOptions[T]) (Call[T], error) {
	if e.index != nil {
		return e.Register(ctx, e.NextID(), o)
	}
	if err := e.refuse(&o); err != nil {
		return Call[T]{}, err
	}
	if e.failure.Load() != nil {
		return e.stillborn(codec.ID{}, o), nil
	}
	s, i, err := e.take(ctx, &o)
	if err != nil {
		if e.failure.Load() != nil {
			return e.stillborn(codec.ID{}, o), nil
		}
		return Call[T]{}, err
	}
	r := makeRef(s.load().gen()+1, i)
	e.begin(ctx, s, r, &o)
	return Call[T]{e: e, ref: r}, nil
}

var errNotifyAndDiscard = &OptionError{Field: "Discard", Value: true, Problem: "stands beside Notify"}

// refuse checks a call's options.
func (e *Engine[T]) refuse(o *CallOptions[T]) error {
	if o.Discard && o.Notify != nil {
		return errNotifyAndDiscard
	}
	if o.IdleTimeout > e.idleMax {
		return idleTooLong(o.IdleTimeout)
	}
	return nil
}

// begin turns the slot that the caller took into the pending call r.
func (e *Engine[T]) begin(ctx context.Context, s *slot[T], r ref, o *CallOptions[T]) {
	if e.inspecting.Load() {
		e.gate.pass()
	}
	now := e.now()
	s.start = now
	state := pending
	if o.Notify != nil {
		s.notify = o.Notify
		state = callback
	} else if o.Discard {
		state = discarded
	}
	tick := noTick
	total, budget := pick(o.Timeout, e.timeout), pick(o.IdleTimeout, e.idle)
	d := e.table.dir.Load().details.at(r.index())
	var totalAt int64
	if total != 0 {
		totalAt = (after(now, total) + 1) &^ fromContext
	}
	if ctx != nil {
		if at, ok := ctx.Deadline(); ok {
			totalAt = e.sooner(totalAt, at)
		}
	}
	if d == nil && (totalAt != 0 || budget != 0 || o.Method != "") {
		d = e.table.detailsOf(r.index())
	}
	if d != nil {
		d.method = o.Method
		if d.total.Load() != totalAt {
			d.total.Store(totalAt)
		}
		if d.idle.Load() != int64(budget) {
			d.idle.Store(int64(budget))
		}
	}
	if first := firstDeadline(totalAt, int64(budget), now); first != 0 {
		tick = e.ticks.deadline(first, now)
	}
	s.store(makeWord(tick, r.gen(), state)) // publishes the call

	// From here on the call may settle at any moment. The driver clears resident
	// before it looks at the word, and this looks at resident after it stored the
	// word, so one of them sees the other (a Dekker pair); likewise with FailAll,
	// which stores failure before it looks at the words.
	if tick != noTick {
		if at := s.residentTick(); at == noTick || tick.Before(at) {
			e.driver.stage(s, r.index(), tick)
		}
	}
	if f := e.failure.Load(); f != nil {
		e.settle(s, r, ending{err: f.err, status: Failed, closed: true})
	}
}

// sooner is the context's deadline when that is before the total one, 0 being
// none. It asks how long that is from now, and only then what the time is, so it
// can only come out later than it is.
func (e *Engine[T]) sooner(totalAt int64, deadline time.Time) int64 {
	left := max(time.Until(deadline), 0)
	at := (after(e.now(), left) + 1) &^ fromContext
	if totalAt != 0 && totalAt <= at {
		return totalAt
	}
	return at | fromContext
}

// firstDeadline is the earlier of the total deadline and the idle one counted from
// now, 0 being none.
func firstDeadline(totalAt, idle, now int64) int64 {
	if idle == 0 {
		return totalAt
	}
	at := after(now, time.Duration(idle))
	if totalAt != 0 && totalAt < at {
		return totalAt
	}
	return at
}

// stillborn is a call of a closed engine.
func (e *Engine[T]) stillborn(id codec.ID, o CallOptions[T]) Call[T] {
	c := Call[T]{e: e, id: id}
	if o.Notify != nil {
		st := e.free.stripe()
		e.free.release(st)
		e.deliver(st, o.Notify, c.stillbornOutcome())
	}
	return c
}
