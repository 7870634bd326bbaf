package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// What is due before now, now, or sooner than a tick fires by the next tick, once: not
// after a turn of the wheel.
func TestW02DueByTheNextTick(t *testing.T) {
	const tick = 20 * time.Millisecond
	for _, past := range []time.Duration{0, 511 * tick, 512*tick - 1, 4096 * tick} {
		eachKind(t, options{Tick: tick}, func(t *testing.T, r *rig) {
			r.clock.Advance(past)
			told := map[string]int{}
			begin := func(name string, ctx context.Context, timeout time.Duration) {
				id := codec.ID{}
				if r.fresh != nil {
					id = r.fresh()
				}
				o := call{Timeout: timeout, Notify: func(o outcome) {
					assert.ErrorIs(t, o.Err, engine.ErrTimeout)
					told[name]++
				}}
				var err error
				if id.IsAbsent() {
					_, err = r.Begin(ctx, o)
				} else {
					_, err = r.Register(ctx, id, o)
				}
				require.NoError(t, err)
			}
			late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-46*time.Millisecond))
			defer cancel()
			now, cancel := context.WithDeadline(t.Context(), time.Now())
			defer cancel()
			begin("-46 ms", late, time.Hour)
			begin("0", now, time.Hour)
			begin("1 ns", nil, 1)
			r.clock.Advance(tick + time.Microsecond) // the rounding of ticks
			require.Equal(t, map[string]int{"-46 ms": 1, "0": 1, "1 ns": 1}, told)
			r.clock.Advance(10_000 * tick)
			require.Len(t, told, 3)
			require.Equal(t, uint64(3), r.quiet().Expired)
		})
	}
}

// Eleven calls are due on one tick; the first one's callback takes its time, and
// the others are cancelled meanwhile. Each ends once, and the gauge at nothing.
func TestW06CancelWhileItsTickFires(t *testing.T) {
	r := newRig(t, options{}, engine.Tuning{})
	inside, release := make(chan struct{}), make(chan struct{})
	var told, cancelled, expired atomic.Int32
	var calls []handle
	first := true
	for range 11 {
		calls = append(calls, r.begin(call{Timeout: time.Second, Notify: func(o outcome) {
			told.Add(1)
			if o.Status == engine.Cancelled {
				cancelled.Add(1)
				return
			}
			expired.Add(1)
			if first {
				first = false
				close(inside)
				<-release
			}
		}}))
	}
	fired := make(chan struct{})
	go func() {
		defer close(fired)
		r.expire(time.Second)
	}()
	<-inside
	won := int32(0)
	for _, c := range calls {
		if c.Cancel(nil) {
			won++
		}
	}
	require.Zero(t, r.Len())
	require.Zero(t, r.Stats().Pending)
	close(release)
	<-fired
	require.Equal(t, int32(10), won)
	require.Equal(t, won, cancelled.Load())
	require.Equal(t, int32(1), expired.Load())
	require.Equal(t, int32(11), told.Load())
	r.quiet()
}

// Timeouts that never come due cost no memory of their own: slots, and what the
// wheel holds, are bounded by the peak in flight. Beyond the bound there is an
// error, and what was cancelled makes room at once.
func TestW07TimersAreBoundedByThePeakInFlight(t *testing.T) {
	const peak = 100
	kinds(t, options{MaxPending: 1000}, func(t *testing.T, r *rig) {
		var window [peak]handle
		for n := range many(200_000) {
			c := &window[n%peak]
			if n >= peak {
				require.True(t, r.Cancel(c.ID(), nil))
			}
			*c = r.begin(call{Timeout: time.Hour, Discard: true})
		}
		census, err := r.Census(func(v string) bool { return v == "" })
		require.NoError(t, err)
		require.Equal(t, peak, census.InUse)
		require.LessOrEqual(t, census.Allocated, peak+16*16)
		r.clock.Advance(time.Second)
		require.LessOrEqual(t, r.Stats().Staged, uint64(census.Allocated))
		require.Equal(t, peak, r.Len())
		require.Equal(t, 1, r.clock.Timers())

		for range 1000 - peak {
			r.begin(call{Timeout: time.Hour, Discard: true})
		}
		_, err = r.tryBegin(call{})
		if r.fresh == nil {
			require.ErrorIs(t, err, engine.ErrFull)
		}
		require.Error(t, err)
		require.True(t, r.Cancel(r.Pending()[0], nil))
		r.begin(call{Discard: true})
		require.Equal(t, 1000, r.FailAll(nil, false))
		r.quiet()
	}, "minted", "string")
}

// Ten times as many timers as the bound allows, none of them cancelled: what is
// above the bound is refused, and takes nothing; when all went, there is room for as
// many again, in the same slots.
func TestW07MoreTimersThanTheBound(t *testing.T) {
	most := many(1_000_000)
	r := newRig(t, options{MaxPending: most}, engine.Tuning{})
	for n := range 10 * most {
		_, err := r.Begin(nil, call{Timeout: time.Hour, Discard: true})
		if n < most && err != nil || n >= most && !errors.Is(err, engine.ErrFull) {
			t.Fatalf("timer %d of %d: %v", n, most, err)
		}
	}
	require.Equal(t, most, r.Len())
	require.Equal(t, most, r.Stats().Pending)
	slots := r.Stats().Slots
	require.LessOrEqual(t, slots, most+16*16)
	require.Equal(t, most, r.FailAll(nil, false))
	for range most {
		r.begin(call{Timeout: time.Hour, Discard: true})
	}
	require.LessOrEqual(t, r.Stats().Slots, max(slots, most+16*16))
	require.Equal(t, most, r.FailAll(nil, false))
	r.quiet()
}

// A call is cancelled while the wheel moves its slot from level to level: when
// Cancel won, it does not expire, and when not, it has expired.
func TestW08CancelWhileTheWheelCascades(t *testing.T) {
	r := newRig(t, options{Grace: -1}, engine.Tuning{Origin: 1<<32 - 5000})
	rng := rand.New(rand.NewPCG(rand.Uint64(), 8))
	litmus{allowed: []string{"true cancelled", "false expired"}}.run(t, func(n int) ([]func(), func() string) {
		ticks := time.Duration(1+rng.IntN([]int{3, 70, 5000}[n%3])) * time.Millisecond
		c := r.begin(call{Timeout: ticks})
		var cancelled bool
		return []func(){
				func() { cancelled = c.Cancel(nil) },
				func() { r.clock.Advance(ticks / 2); r.clock.Advance(ticks) },
			}, func() string {
				r.expire(ticks)
				return say(cancelled, " ", r.outcome(c).Status)
			}
	})
	r.quiet()
}

// The same for a crowd at a time, a million in all: the clock goes on a random way
// at each step, through every level's edges, while the calls are cancelled one by one.
func TestW08ManyCancelsWhileTheWheelCascades(t *testing.T) {
	const crowd = 512
	rounds := many(1_000_000) / crowd
	if stressFull {
		rounds = 1_000_000 / crowd
	}
	r := newRig(t, options{Grace: -1}, engine.Tuning{Origin: 1<<32 - 5000})
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 8))
	var calls [crowd]handle
	var cancelled [crowd]bool
	won := 0
	for range rounds {
		for i := range calls {
			calls[i] = r.begin(call{Timeout: time.Duration(1+rng.IntN([]int{3, 70, 5000}[i%3])) * time.Millisecond})
		}
		steps := rng.Perm(200)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i, c := range calls {
				cancelled[i] = c.Cancel(nil)
			}
		}()
		for _, step := range steps {
			r.clock.Advance(time.Duration(step) * 100 * time.Microsecond)
		}
		<-done
		r.expire(5 * time.Second)
		for i, c := range calls {
			want := engine.Expired
			if cancelled[i] {
				want = engine.Cancelled
				won++
			}
			require.Equal(t, want, r.outcome(c).Status, "seed %d", seed)
		}
	}
	t.Logf("%d of %d were cancelled", won, rounds*crowd)
	r.quiet()
}

// A call whose callback registers the next keeps going, however often; and so do
// very many of a tick each.
func TestW10RegisteringInTheTimeoutOfTheLast(t *testing.T) {
	for name, size := range map[string]struct {
		calls, rounds int
		timeout       time.Duration
	}{
		"one, again and again": {1, many(1_000_000), 6 * time.Millisecond},
		"many of a tick":       {many(100_000), 10, time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, options{MaxPending: size.calls + 1}, engine.Tuning{})
			fired := 0
			var last time.Duration
			var again func(outcome)
			begin := func() { r.begin(call{Timeout: size.timeout, Notify: again}) }
			again = func(o outcome) {
				if r.Closed() {
					return
				}
				fired++
				require.ErrorIs(t, o.Err, engine.ErrTimeout)
				last = r.clock.Now()
				begin()
			}
			for range size.calls {
				begin()
			}
			for range size.rounds {
				r.expire(size.timeout)
				require.LessOrEqual(t, r.clock.Now()-last, size.timeout+time.Millisecond, "it went silent")
			}
			require.GreaterOrEqual(t, fired, size.calls*size.rounds)
			require.Equal(t, size.calls, r.Len())
			r.Close()
		})
	}
}

// A clock that the host's sleep stops: its time leaps, and its timers come late.
type sleepyClock struct {
	*engine.ManualClock
	leapt atomic.Int64
}

func (c *sleepyClock) Now() time.Duration { return c.ManualClock.Now() + time.Duration(c.leapt.Load()) }

// Deadlines that lie between two ticks, in a fine level or a coarse one, begun at
// any moment of a tick: none is early, and none more than a tick late.
func TestW16DeadlinesBetweenTicks(t *testing.T) {
	const us, ms = time.Microsecond, time.Millisecond
	for _, start := range []time.Duration{0, 300 * us, 500 * us, 999 * us, 59*ms + 900*us, 255*ms + 500*us} {
		eachKind(t, options{}, func(t *testing.T, r *rig) {
			r.clock.Advance(start)
			timeouts := []time.Duration{255*ms + 500*us, 300 * ms, 310 * ms, 256*ms - us, 64*ms + us, us}
			late := make([]time.Duration, 0, len(timeouts))
			for i, timeout := range timeouts {
				if i == 2 { // when 300 ms are near, and still in a coarse level
					r.clock.Advance(60 * ms)
				}
				due := r.clock.Now() + timeout
				r.begin(call{Timeout: timeout, Notify: func(outcome) { late = append(late, r.clock.Now()-due) }})
			}
			for range 400 * ms / (100 * us) {
				r.clock.Advance(100 * us)
			}
			require.Len(t, late, len(timeouts))
			for _, by := range late {
				require.GreaterOrEqual(t, by, time.Duration(0), "early, begun at %v", start)
				require.LessOrEqual(t, by, ms+100*us, "late, begun at %v", start)
			}
			r.quiet()
		})
	}
}

// After a gap of ten minutes what is due expires, once, and the rest keeps its
// time; catching up takes no run for every tick that was missed.
func TestW17TimeLeapsForward(t *testing.T) {
	n := many(100_000)
	clock := &sleepyClock{ManualClock: engine.NewManualClock()}
	e, err := engine.New(options{Clock: clock, MaxPending: n})
	require.NoError(t, err)
	told := make([]int, n)
	for i := range told {
		o := call{Timeout: 5 * time.Minute, Notify: func(o outcome) { told[i]++; require.ErrorIs(t, o.Err, engine.ErrTimeout) }}
		if i%2 == 1 {
			o.Timeout = 20 * time.Minute
		}
		_, err := e.Begin(nil, o)
		require.NoError(t, err)
	}
	clock.Advance(time.Second)
	require.Zero(t, e.Stats().Expired)
	before := e.Stats().WheelRuns
	clock.leapt.Add(int64(10 * time.Minute))
	clock.Advance(5 * time.Minute) // its timer goes by the time that it slept through
	require.Equal(t, n/2, e.Len())
	for i := range told {
		require.Equal(t, 1-i%2, told[i])
	}
	clock.leapt.Add(-int64(time.Hour)) // a clock should not step back: nothing comes of it
	clock.Advance(time.Minute)
	require.Equal(t, n/2, e.Len())
	clock.leapt.Add(int64(time.Hour))
	clock.Advance(20 * time.Minute)
	require.Zero(t, e.Len())
	for i := range told {
		require.Equal(t, 1, told[i])
	}
	require.Less(t, e.Stats().WheelRuns-before, uint64(n/64+1000))
	requireQuiet(t, e)
}

// The total deadline stands on its own: neither does the idle one have to pass, nor
// is it progress that looks at it.
func TestX09TotalDeadlineNeedsNoProgress(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct{ idle, total, progress, want time.Duration }{
		{1000 * ms, 150 * ms, 0, 150 * ms},
		{0, 400 * ms, 0, 400 * ms},
		{100 * ms, 400 * ms, 50 * ms, 400 * ms},
	} {
		eachKind(t, options{}, func(t *testing.T, r *rig) {
			h := r.begin(call{Timeout: c.total, IdleTimeout: c.idle})
			id := h.ID()
			for r.Len() == 1 && r.clock.Now() < time.Second {
				r.clock.Advance(ms)
				if c.progress != 0 && r.clock.Now()%c.progress == 0 {
					r.Touch(id)
				}
			}
			require.GreaterOrEqual(t, r.clock.Now(), c.want)
			require.LessOrEqual(t, r.clock.Now(), c.want+ms)
			e, ok := errors.AsType[*engine.CallError](r.outcome(h).Err)
			require.True(t, ok)
			require.Equal(t, engine.DeadlineTotal, e.Deadline)
			require.Equal(t, c.total, e.Budget)
			r.quiet()
		})
	}
}
