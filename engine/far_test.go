package engine_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/wheel"
)

// Deadlines beyond what a tick can say, beyond what the wheel spans, and beyond the
// wrap of ticks: never early, at most a tick late.
func TestFarDeadlines(t *testing.T) {
	const ms = time.Millisecond
	for _, total := range []time.Duration{
		1<<30*ms - 2*ms, 1<<30*ms - ms, 1 << 30 * ms, 1<<30*ms + ms, 1<<31*ms - ms, 1 << 31 * ms, 1<<31*ms + ms,
		1<<32*ms - ms, 1 << 32 * ms, 3<<32*ms + 7*ms, 10 * 365 * 24 * time.Hour,
	} {
		for _, origin := range []wheel.Tick{0, 1<<31 - 2, 1<<32 - 5} {
			t.Run(fmt.Sprintf("%v from %d", total, origin), func(t *testing.T) {
				r := newRig(t, options{}, engine.Tuning{Origin: origin})
				far := r.begin(call{Timeout: total})
				near := r.begin(call{Timeout: time.Second})
				r.expire(time.Second + ms)
				require.ErrorIs(t, r.outcome(near).Err, engine.ErrTimeout, "near ones do not mind")
				r.clock.Advance(total - r.clock.Now() - 1)
				r.pending(far)
				r.expire(ms + 1)
				e, ok := errors.AsType[*engine.CallError](r.outcome(far).Err)
				require.True(t, ok)
				require.Equal(t, total, e.Budget)
				require.Equal(t, engine.DeadlineTotal, e.Deadline)
				require.Less(t, r.Stats().WheelRuns, 100+uint64(total/(ms<<27)), "it is not walked tick by tick")
				r.quiet()
			})
		}
	}
}

// A far total deadline beside an idle one that progress moves on and on.
func TestFarDeadlineBesideAnIdleOne(t *testing.T) {
	const day = 24 * time.Hour
	r := newRig(t, options{}, engine.Tuning{})
	c := r.begin(call{Timeout: 30 * day, IdleTimeout: 2 * day})
	for r.clock.Now() < 29*day {
		r.clock.Advance(day)
		require.True(t, r.Touch(c.ID()))
	}
	r.clock.Advance(day)
	r.pending(c)
	r.expire(0)
	e, ok := errors.AsType[*engine.CallError](r.outcome(c).Err)
	require.True(t, ok)
	require.Equal(t, engine.DeadlineTotal, e.Deadline)

	c = r.begin(call{Timeout: 300 * day, IdleTimeout: 2 * day})
	r.clock.Advance(day)
	require.True(t, r.Touch(c.ID()))
	r.clock.Advance(2 * day)
	r.pending(c)
	r.expire(0)
	e, ok = errors.AsType[*engine.CallError](r.outcome(c).Err)
	require.True(t, ok)
	require.Equal(t, engine.DeadlineIdle, e.Deadline)
	r.quiet()
}

// Durations that reach the end of time mean a deadline that never comes.
func TestDeadlinesAtTheEndOfTime(t *testing.T) {
	for _, total := range []time.Duration{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 / 2} {
		r := newRig(t, options{Timeout: total}, engine.Tuning{})
		r.clock.Advance(time.Hour)
		c := r.begin(call{})
		r.clock.Advance(100 * 365 * 24 * time.Hour)
		r.pending(c)
		require.True(t, c.Cancel(nil))
		c.Discard()
		r.quiet()
	}
}

// A timeout below a tick is one all the same, and comes at the end of the tick at
// the latest.
func TestTinyTimeouts(t *testing.T) {
	for _, tick := range []time.Duration{0, time.Microsecond, 10 * time.Millisecond, time.Minute} {
		length := tick
		if length == 0 {
			length = time.Millisecond
		}
		for _, total := range []time.Duration{1, length / 2, length, length + 1} {
			for _, since := range []time.Duration{0, 1, length / 3, length - 1} {
				r := newRig(t, options{Tick: tick}, engine.Tuning{Origin: 7})
				r.clock.Advance(since)
				c := r.begin(call{Timeout: total})
				r.clock.Advance(total - 1)
				r.pending(c)
				// Ticks are counted with a rounding that is below a microsecond here.
				r.clock.Advance(length + time.Microsecond)
				require.ErrorIs(t, r.outcome(c).Err, engine.ErrTimeout, "tick %v, timeout %v, at %v", tick, total, since)
				r.quiet()
			}
		}
	}
}

func TestOptionsOutOfRange(t *testing.T) {
	for field, o := range map[string]options{
		"MaxPending":  {MaxPending: engine.SlotsMax + 1},
		"Overflow":    {Overflow: engine.OverflowWait + 1},
		"Shards":      {Shards: engine.ShardsMax + 1},
		"Tick":        {Tick: engine.TickMin - 1},
		"IdleTimeout": {IdleTimeout: 1 << 31 * time.Millisecond},
	} {
		_, err := engine.New(o)
		e, ok := errors.AsType[*engine.OptionError](err)
		require.True(t, ok, field)
		require.Equal(t, field, e.Field)
		require.Contains(t, e.Error(), field)
	}
	for _, o := range []options{{Shards: -1}, {Tick: -time.Second}, {Tick: engine.TickMax + 1}} {
		_, err := engine.New(o)
		require.Error(t, err)
	}
	eachKind(t, options{}, func(t *testing.T, r *rig) {
		_, err := r.tryBegin(call{IdleTimeout: math.MaxInt64})
		e, ok := errors.AsType[*engine.OptionError](err)
		require.True(t, ok)
		require.Equal(t, "IdleTimeout", e.Field)
		require.Zero(t, r.Len())
	})
	_, err := engine.New(options{MaxPending: -1, Timeout: -1, IdleTimeout: -1, Grace: -1, Tick: engine.TickMax})
	require.NoError(t, err)
}
