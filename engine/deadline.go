package engine

import (
	"math"
	"math/bits"
	"time"

	"github.com/correlator-go/correlator/wheel"
)

// nearTicks is how far ahead a word's tick may lie. Ticks are 32 bits and
// compare by their difference, so a farther deadline stands in the word as
// nearTicks from now, and the driver moves it on when it gets there.
const nearTicks = 1 << 30

// ticker turns nanoseconds of the engine's time into ticks, by one
// multiplication instead of a division. The factor is rounded up, so a moment just
// before a tick may be counted to it: at time ns, if it lies within ns/2^64 of a
// tick's length of it. That is nothing for the first hours; after a year it is a
// part in 600, after 292 years, at the end of time, half a tick. Expiry is never
// early (I3) all the same, for which it is enough that count is monotonic; but a
// deadline may come later by as much, beyond the one tick.
type ticker struct {
	mul    uint64     // 2^64 / length, rounded up
	length int64      // nanoseconds
	origin wheel.Tick // of time 0; tests begin near the wrap
}

func newTicker(length time.Duration, origin wheel.Tick) ticker {
	return ticker{
		mul:    math.MaxUint64/uint64(length) + 1,
		length: int64(length),
		origin: origin,
	}
}

// count is how many ticks have passed at time ns, which is not negative.
func (t ticker) count(ns int64) int64 {
	hi, _ := bits.Mul64(uint64(ns), t.mul)
	return int64(hi)
}

// at is the current tick at time ns.
func (t ticker) at(ns int64) wheel.Tick { return wheel.Tick(t.count(ns)) + t.origin }

// tick is the tick of a count, or the one after it where that stands for none.
func (t ticker) tick(count int64) wheel.Tick { return someTick(wheel.Tick(count) + t.origin) }

// deadline is the tick at which a deadline of time ns has certainly passed, seen
// from now: the one after the tick in which it lies.
func (t ticker) deadline(ns, now int64) wheel.Tick {
	return t.tick(min(t.count(ns)+1, t.count(now)+nearTicks))
}

// someTick is t, or the tick after it where t is the one that stands for none.
func someTick(t wheel.Tick) wheel.Tick { return max(t, noTick+1) }

// span is how many ticks a budget has, rounded up; 0 when it is negative.
func (t ticker) span(budget time.Duration) uint32 {
	if budget <= 0 {
		return 0
	}
	n := t.count(int64(budget))
	if n*t.length < int64(budget) {
		n++
	}
	return uint32(n)
}

// nanoseconds is the inverse of span.
func (t ticker) nanoseconds(ticks uint32) time.Duration {
	return time.Duration(ticks) * time.Duration(t.length)
}

// until is the time from now to the beginning of tick, 0 when that is past.
func (t ticker) until(tick wheel.Tick, now int64) time.Duration {
	current := t.count(now)
	ahead := int64(tick.Sub(wheel.Tick(current) + t.origin))
	if ahead <= 0 {
		return 0
	}
	if current+ahead > math.MaxInt64/t.length {
		return math.MaxInt64
	}
	return time.Duration((current+ahead)*t.length - now)
}

// after adds a timeout to a time and stops at the end of time.
func after(now int64, timeout time.Duration) int64 {
	if at := now + int64(timeout); at >= now {
		return min(at, math.MaxInt64-1)
	}
	return math.MaxInt64 - 1
}

// near is the longest time from now that a word's tick can say, a little less than
// nearTicks. Idle budgets may be no longer: how long a call has been idle, the
// driver only knows by that tick.
func near(tick time.Duration) time.Duration {
	const most = math.MaxInt64 / 4 // 73 years
	if tick >= most/nearTicks {
		return most
	}
	return (nearTicks - 2) * tick
}

func idleTooLong(idle time.Duration) error {
	return &OptionError{Field: "IdleTimeout", Value: idle, Problem: "longer than 2^30 ticks (12 days at 1 ms); NoTimeout stands for none"}
}

// pick is the timeout of a call: its own, else the engine's; 0 when there is none.
func pick(own, engine time.Duration) time.Duration {
	if own == 0 {
		own = engine
	}
	return max(own, 0)
}
