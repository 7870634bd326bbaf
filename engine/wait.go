package engine

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/correlator-go/correlator/internal/invariants"
)

// parker is what a slot needs when someone attends its call before it settles. It
// stays with the slot: a waiter that parks allocates only the first time.
type parker struct {
	wake atomic.Pointer[waker]
	done atomic.Pointer[doneChan]
}

// waker is the channel a parked waiter sleeps on. Of each call that was parked
// when it settled exactly one token is sent, and the one waiter receives it, so
// none is left over for the next call.
type waker struct{ token chan struct{} }

func (p *parker) waker() *waker {
	if w := p.wake.Load(); w != nil {
		return w
	}
	p.wake.CompareAndSwap(nil, &waker{make(chan struct{}, 1)})
	return p.wake.Load()
}

// Wait returns the outcome of the call, waiting for it if need be. The outcome is
// consumed: another Wait, then or at the same time, returns ErrConsumed, and so
// does one on a call with a callback or a discarded one. A value belongs to the
// caller if Options.Detach made it so.
//
// When ctx ends first, Wait settles the call as cancelled, or as expired if the
// context's deadline passed, and tells the cause. An outcome that is there is
// always preferred. ctx may be nil.
//
// The error is what Reject was given, or a *CallError, or ErrConsumed.
func (c Call[T]) Wait(ctx context.Context) (T, error) {
	if c.ref == 0 {
		o := c.e.stillbornOutcome(c.still)
		return o.Value, o.Err
	}
	s := c.e.table.slot(c.ref.index())
	if w := s.load(); w.is(c.ref.gen(), answered) {
		if v, status, err := c.e.consume(s, c.ref, w); status != Pending {
			return v, err
		}
	}
	return c.e.wait(ctx, s, c.ref)
}

func (e *Engine[T]) wait(ctx context.Context, s *slot[T], r ref) (v T, err error) {
	var p *parker
	for {
		w := s.load()
		if w.gen() != r.gen() {
			return v, ErrConsumed
		}
		switch {
		case w.state() == answered || w.state() == ended:
			if v, status, err := e.consume(s, r, w); status != Pending {
				return v, err
			}
			return v, ErrConsumed
		case w.state() >= pending && !w.settled() && w.state()&parkedBit == 0:
			if p == nil {
				p = e.table.parkerOf(r.index())
				p.waker()
			}
			if s.swap(w, w|word(parkedBit)) {
				return e.park(ctx, s, r, p.waker().token)
			}
		default: // free, callback, discarded, parked, held
			return v, ErrConsumed
		}
	}
}

// park sleeps until the call is settled or ctx ends. The caller is the one waiter.
func (e *Engine[T]) park(ctx context.Context, s *slot[T], r ref, token chan struct{}) (v T, err error) {
	var end <-chan struct{}
	if ctx != nil {
		end = ctx.Done()
	}
	if end == nil {
		<-token
	} else {
		select {
		case <-token:
		case <-end:
			if err := e.giveUp(ctx, s, r); err != nil {
				return v, err
			}
			<-token // someone else is settling it: the outcome is on its way
		}
	}
	v, status, err := e.consume(s, r, s.load())
	if invariants.Enabled {
		invariants.Check(status != Pending, "I1: outcome of %x lost in %v", r, s.load().state())
	}
	return v, err
}

// giveUp settles the call of the waiter whose context ended, and returns the
// error; nil when the call was claimed by another.
func (e *Engine[T]) giveUp(ctx context.Context, s *slot[T], r ref) error {
	if _, won := s.claim(r.gen()); !won {
		return nil
	}
	s.unanswered.Store(r.gen())
	end := &ending{err: context.Cause(ctx), at: e.now(), status: Cancelled}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		end.status, end.deadline = Expired, DeadlineContext
	}
	e.count(endingCounter[end.status])
	var told Settlement
	e.tell(s, r, end, &told)
	err := e.errorOf(s, r, end)
	if end.status == Expired {
		err.(*CallError).Budget = end.elapsed(s.start)
	}
	// The one who would be woken is here.
	e.expose(s, r, ended)
	e.freeSlot(s, r)
	e.report(&told, end)
	return err
}
