package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

func TestTimeoutNamesTheCallAndItsBudget(t *testing.T) {
	eachKind(t, options{IdleTimeout: engine.NoTimeout}, func(t *testing.T, r *rig) {
		c := r.begin(call{Method: "tools/call", Timeout: 5 * time.Second})
		id := c.ID()
		require.Equal(t, 1, r.clock.Timers())
		r.clock.Advance(5 * time.Second)
		r.pending(c) // never early
		r.clock.Advance(2 * time.Millisecond)
		require.Zero(t, r.Len())
		require.Empty(t, r.Pending())
		o := r.outcome(c)
		require.Equal(t, engine.Expired, o.Status)
		require.ErrorIs(t, o.Err, engine.ErrTimeout)
		require.ErrorIs(t, o.Err, context.DeadlineExceeded)
		require.NotErrorIs(t, o.Err, engine.ErrCancelled)
		e, ok := errors.AsType[*engine.CallError](o.Err)
		require.True(t, ok)
		require.Equal(t, id, e.ID)
		require.Equal(t, "tools/call", e.Method)
		require.Equal(t, 5*time.Second, e.Budget)
		require.Equal(t, engine.DeadlineTotal, e.Deadline)
		require.False(t, e.Sent)
		require.True(t, e.Timeout())
		require.GreaterOrEqual(t, e.Elapsed, 5*time.Second)
		require.Contains(t, e.Error(), "tools/call")
		require.Contains(t, e.Error(), "5s")
		require.Equal(t, uint64(1), r.quiet().Expired)
	})
}

func TestTimeoutDefaults(t *testing.T) {
	for _, c := range []struct {
		engine, call, want time.Duration // 0 is none
	}{
		{0, 0, engine.DefaultTimeout},
		{12 * time.Second, 0, 12 * time.Second},
		{12 * time.Second, 3 * time.Second, 3 * time.Second},
		{12 * time.Second, 30 * time.Second, 30 * time.Second},
		{12 * time.Second, engine.NoTimeout, 0},
		{12 * time.Second, math.MinInt64, 0},
		{engine.NoTimeout, 0, 0},
		{engine.NoTimeout, 3 * time.Second, 3 * time.Second},
		{-time.Hour, -time.Hour, 0},
	} {
		t.Run(fmt.Sprintf("engine=%v,call=%v", c.engine, c.call), func(t *testing.T) {
			r := newRig(t, options{Timeout: c.engine}, engine.Tuning{})
			h := r.begin(call{Timeout: c.call})
			if c.want == 0 {
				require.Zero(t, r.clock.Timers())
				r.clock.Advance(24 * 365 * time.Hour)
				r.pending(h)
				require.Zero(t, r.Stats().WheelRuns)
				require.True(t, h.Cancel(nil))
			} else {
				require.Equal(t, 1, r.clock.Timers())
				r.clock.Advance(c.want)
				r.pending(h)
				r.expire(0)
			}
			require.Error(t, r.outcome(h).Err)
			r.quiet()
		})
	}
}

// A timeout of a call that was settled must not reach the next call of its id, nor
// of its slot.
func TestStaleTimeoutSparesTheNextCall(t *testing.T) {
	eachKind(t, options{MaxPending: 1}, func(t *testing.T, r *rig) {
		first := r.begin(call{Timeout: 10 * time.Second})
		if r.fresh != nil {
			id := first.ID()
			if _, minted := id.Int(); !minted || id.Text() == "1" {
				r.fresh = func() codec.ID { return id } // the same id again
			}
		}
		require.True(t, r.Resolve(first.ID(), "1"))
		require.Equal(t, "1", r.outcome(first).Value)
		r.clock.Advance(9 * time.Second)
		second := r.begin(call{Timeout: 10 * time.Second})
		r.clock.Advance(9 * time.Second) // beyond the first one's time
		r.pending(second)
		require.False(t, first.Cancel(nil), "a stale handle reaches nobody")
		require.True(t, r.Resolve(second.ID(), "2"))
		require.Equal(t, "2", r.outcome(second).Value)
		r.quiet()
	})
}

func TestDeadlines(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name        string
		total, idle time.Duration
		touch       []time.Duration // moments at which the peer shows life
		at          time.Duration   // when it expires; 0 never
		deadline    engine.Deadline
		budget      time.Duration
	}{
		{"total alone", 10 * s, -1, nil, 10 * s, engine.DeadlineTotal, 10 * s},
		{"total alone is not moved", 10 * s, -1, []time.Duration{4 * s, 8 * s, 9 * s}, 10 * s, engine.DeadlineTotal, 10 * s},
		{"idle alone", -1, 3 * s, nil, 3 * s, engine.DeadlineIdle, 3 * s},
		{"idle alone is moved", -1, 3 * s, []time.Duration{2 * s, 4 * s}, 7 * s, engine.DeadlineIdle, 3 * s},
		{"idle first", 10 * s, 3 * s, nil, 3 * s, engine.DeadlineIdle, 3 * s},
		{"idle moved, total stays", 10 * s, 3 * s, []time.Duration{2 * s, 4 * s, 6 * s, 8 * s}, 10 * s, engine.DeadlineTotal, 10 * s},
		{"idle longer than total", 3 * s, 10 * s, []time.Duration{2 * s}, 3 * s, engine.DeadlineTotal, 3 * s},
		{"neither", -1, -1, []time.Duration{s}, 0, 0, 0},
		{"idle rounded up to ticks", -1, 1500 * time.Microsecond, nil, 2 * time.Millisecond, engine.DeadlineIdle, 2 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachKind(t, options{}, func(t *testing.T, r *rig) {
				h := r.begin(call{Timeout: c.total, IdleTimeout: c.idle})
				for _, at := range c.touch {
					r.clock.Advance(at - r.clock.Now())
					require.True(t, r.Touch(h.ID()))
				}
				if c.at == 0 {
					r.clock.Advance(1000 * time.Hour)
					r.pending(h)
					require.True(t, h.Cancel(nil))
					require.False(t, r.Touch(h.ID()))
					h.Discard()
					r.quiet()
					return
				}
				r.clock.Advance(c.at - r.clock.Now() - 1)
				r.pending(h)
				r.expire(1)
				require.False(t, r.Touch(h.ID()))
				e, ok := errors.AsType[*engine.CallError](r.outcome(h).Err)
				require.True(t, ok)
				require.Equal(t, c.deadline, e.Deadline)
				require.Equal(t, c.budget, e.Budget)
				r.quiet()
			})
		})
	}
}
