package engine

import (
	"context"
	"time"

	"github.com/correlator-go/correlator/wheel"
)

// plan is what a call's timeouts come to at the moment it begins.
type plan struct {
	tick   wheel.Tick // of the first deadline; noTick when there is none
	limits limits
	budget int64 // see details
	far    int64 // the total deadline in nanoseconds, when limits say that it is far
}

func (e *Engine[T]) plan(ctx context.Context, o *CallOptions[T], now int64) (p plan) {
	var total int64 // when, in nanoseconds; 0 is never
	if budget := pick(o.Timeout, e.timeout); budget != 0 {
		total, p.budget = after(now, budget), int64(budget)
	}
	if ctx != nil {
		if at, ok := ctx.Deadline(); ok {
			total, p.budget = e.sooner(total, p.budget, at, now)
		}
	}
	idle := o.IdleTimeout
	if idle == 0 {
		idle = e.idle
	}
	// An idle budget that is no shorter than the total one is moot.
	if idle < 0 || total != 0 && int64(idle) >= total-now {
		idle = 0
	}
	if total == 0 && idle == 0 {
		return p
	}
	// Ticks are counted in 64 bits here, so they compare as numbers.
	var first int64
	if total != 0 {
		if total-now <= int64(e.near) {
			first = e.ticks.count(total) + 1
			p.limits = limits(e.ticks.tick(first)) << limitsShift
		} else {
			first = e.ticks.count(now) + nearTicks
			p.limits, p.far = farBit, total
		}
	}
	if idle != 0 {
		span := e.ticks.span(idle)
		p.limits |= limits(span)
		if at := e.ticks.count(after(now, e.ticks.nanoseconds(span))) + 1; total == 0 || at < first {
			first = at
		}
	}
	p.tick = e.ticks.tick(first)
	return p
}

// sooner puts the context's deadline in the place of the total one if it comes
// first. It asks how long that is from now, and only then what the time is, so the
// deadline can only come out later than it is.
func (e *Engine[T]) sooner(total, budget int64, deadline time.Time, now int64) (at, newBudget int64) {
	left := max(time.Until(deadline), 0)
	at = max(after(e.now(), left), 1) // 0, the first moment of a clock that stands, is never
	if total != 0 && total <= at {
		return total, budget
	}
	return at, min(now-at, -1)
}
