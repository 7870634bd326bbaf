package engine

import (
	"context"
	"errors"
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
// A closed engine returns a call that has already failed with the stored failure.
// Errors: ErrFull, ErrIDsExhausted, *OptionError, and under OverflowWait a
// *CallError when ctx ended first.
func (e *Engine[T]) Begin(ctx context.Context, o CallOptions[T]) (Call[T], error) {
	if e.index != nil {
		for {
			c, err := e.Register(ctx, e.NextID(), o)
			if !errors.Is(err, ErrDuplicateID) {
				return c, err
			}
			// Someone has registered the number of its own accord meanwhile.
		}
	}
	if err := e.refuse(&o); err != nil {
		return Call[T]{}, err
	}
	if e.failure.Load() != nil {
		return e.stillborn(codec.ID{}, &o), nil
	}
	var s *slot[T]
	var i uint32
	if e.room.waiting.Load() == 0 {
		// As free.take has it, without a call.
		tk := e.free.hold()
		head := tk.head.Load()
		if top := topOf(head); top != 0 {
			s, i = e.table.slot(top-1), top-1
			w := s.load()
			if tk.head.CompareAndSwap(head, poppedTo(head, w.next())) {
				e.free.release(tk)
				r := makeRef(w.gen()+1, i)
				e.begin(ctx, s, r, &o)
				return Call[T]{e: e, ref: r}, nil
			}
			e.free.collided(tk)
		}
		s, i = e.free.takeAnywhere(tk.stripe)
		e.free.release(tk)
	}
	if s == nil {
		var err error
		if s, i, err = e.takeFull(ctx, &o); err != nil {
			if e.failure.Load() != nil {
				return e.stillborn(codec.ID{}, &o), nil
			}
			return Call[T]{}, err
		}
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
	if o.IdleTimeout > e.near {
		return idleTooLong(o.IdleTimeout)
	}
	return nil
}

// begin turns the slot that the caller took into the pending call r.
func (e *Engine[T]) begin(ctx context.Context, s *slot[T], r ref, o *CallOptions[T]) {
	if e.inspecting.Load() {
		e.gate.pass()
	}
	now := int64(o.Started)
	switch {
	case now > 0:
	case e.clock == nil:
		now = int64(time.Since(e.start)) // as e.now has it, without a call
	default:
		now = e.now()
	}
	s.start = now
	state := pending
	if o.Notify != nil {
		s.notify = o.Notify
		state = callback
	} else if o.Discard {
		state = discarded
	} else if e.detach != nil {
		s.value = o.Into
	}
	// The usual plan, without a call: a total deadline, not a far one, and no other
	// that matters.
	var p plan
	budget, idle := o.Timeout, o.IdleTimeout
	if budget == 0 {
		budget = e.timeout
	}
	if idle == 0 {
		idle = e.idle
	}
	usual := budget > 0 && budget <= e.near && (idle <= 0 || idle >= budget)
	if usual && ctx != nil {
		_, has := ctx.Deadline()
		usual = !has
	}
	if usual {
		p.tick = e.ticks.tick(e.ticks.count(now+int64(budget)) + 1)
		p.limits, p.budget = plain, int64(budget)
	} else {
		p = e.plan(ctx, o, now)
	}
	d := e.table.dir.Load().details.at(r.index())
	if d == nil && (p.limits != 0 || o.Method != "") {
		d = e.table.detailsOf(r.index())
	}
	if d != nil {
		d.method, d.budget = o.Method, p.budget
		if d.limits.Load() != uint64(p.limits) {
			d.limits.Store(uint64(p.limits))
		}
	}
	if p.limits.far() {
		e.table.farOf(r.index()).Store(p.far)
	}
	s.store(makeWord(p.tick, r.gen(), state)) // publishes the call

	// From here on the call may settle at any moment. The driver clears resident
	// before it looks at the word, and this looks at resident after it stored the
	// word, so one of them sees the other (a Dekker pair); likewise with FailAll,
	// which stores failure before it looks at the words.
	if p.tick != noTick {
		if at := s.residentTick(); at == noTick || p.tick.Before(at) {
			if s.stage.Load() == 0 || !e.driver.wake.Load().before(p.tick) {
				e.driver.stage(s, r.index(), p.tick)
			}
		}
	}
	if f := e.failure.Load(); f != nil {
		e.settle(s, r, &ending{err: f.err, at: now, status: Failed, closed: true})
	}
}
