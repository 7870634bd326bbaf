package wheel_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/wheel"
)

// timer is what an owner with 64-bit time does with a deadline that lies beyond a
// tick's reach: it schedules AheadMax and looks again when that is due.
type timer struct {
	wheel *wheel.Wheel
	now   int64
	at    []int64
	fired []int64 // per entry, when; -1 not yet
}

func newTimer(now int64, entries int) *timer {
	t := &timer{wheel: wheel.New(wheel.Tick(now)), now: now, at: make([]int64, entries), fired: make([]int64, entries)}
	t.wheel.Grow(entries)
	return t
}

func (t *timer) after(i uint32, delay int64) {
	t.at[i], t.fired[i] = t.now+delay, -1
	if t.at[i] < t.now && delay > 0 {
		t.at[i] = math.MaxInt64 // the sum left int64
	}
	t.wheel.Schedule(i, t.reach(i))
}

func (t *timer) reach(i uint32) wheel.Tick {
	return wheel.Tick(t.now + min(max(t.at[i]-t.now, -1), wheel.AheadMax))
}

func (t *timer) advance(now int64) {
	buf := make([]uint32, 0, 64)
	for more := true; more; {
		var due []uint32
		due, more = t.wheel.Advance(wheel.Tick(now), buf)
		t.now = now
		for _, i := range due {
			if t.at[i] > now {
				t.wheel.Schedule(i, t.reach(i))
				continue
			}
			t.fired[i] = now
		}
	}
}

// walk advances from one thing to do to the next, as a driver does.
func (t *timer) walk(until int64) (runs int) {
	for t.now < until {
		next, ok := t.wheel.Next()
		step := int64(next - t.wheel.Now())
		if !ok || t.now+step > until {
			step = until - t.now
		}
		t.advance(t.now + step)
		runs++
	}
	return runs
}

const hour = int64(3_600_000)

func TestW01LargestDeadlineDoesNotFire(t *testing.T) {
	for _, delay := range []int64{math.MaxInt64, math.MaxInt64 - 1} {
		tm := newTimer(hour, 1)
		tm.after(0, delay)
		tm.walk(25 * hour)
		require.EqualValues(t, -1, tm.fired[0])
		require.True(t, tm.wheel.Cancel(0))
		require.Zero(t, tm.wheel.Len())
	}
}

func TestW02PastAndZeroFireByTheNextTick(t *testing.T) {
	for _, start := range []int64{0, 511, 1<<32 - 1} {
		tm := newTimer(start, 4)
		tm.after(0, -46)
		tm.after(1, 0)
		tm.after(2, 1)
		tm.after(3, -1<<40)
		tm.advance(start)
		require.Equal(t, []int64{start, start, -1, start}, tm.fired)
		tm.advance(start + 1)
		require.Equal(t, start+1, tm.fired[2])
		require.Zero(t, tm.wheel.Len())
	}
}

func TestW03NoDriftOverManyWraps(t *testing.T) {
	const period = 10_000
	for _, start := range starts {
		tm := newTimer(start, 1)
		for due := start + period; due < start+3*hour; due += period {
			tm.after(0, due-tm.now)
			tm.walk(due)
			require.Equal(t, due, tm.fired[0])
		}
	}
}

func TestW04EveryLevelSpanIsExact(t *testing.T) {
	for _, start := range []int64{0, 1<<32 - 5, 4095} {
		for _, span := range []int64{1 << 6, 1 << 12, 1 << 18, 1 << 24, 1 << 30, 1 << 31} {
			delays := []int64{span - 1, span, span + 1, 2 * span, 10*span + 3}
			tm := newTimer(start, len(delays))
			for i, d := range delays {
				tm.after(uint32(i), d)
			}
			for _, d := range delays {
				if span > 1<<12 { // leap to where it gets interesting
					tm.walk(start + d - 100)
				}
				for tm.now < start+d { // tick by tick
					tm.advance(tm.now + 1)
				}
			}
			for i, d := range delays {
				require.Equal(t, start+d, tm.fired[i], "delay %d from %d", d, start)
			}
		}
	}
}

func TestW12AnyUptime(t *testing.T) {
	for _, start := range []int64{1<<30 - 5, 1 << 30, 1<<31 - 5, 1<<32 - 5, 1<<36 - 5, 1 << 42, (1<<63 - 5) / 1_000_000} {
		tm := newTimer(start, 1)
		tm.after(0, 10_000)
		tm.walk(start + 9_999)
		require.EqualValues(t, -1, tm.fired[0])
		tm.walk(start + 10_001)
		require.Equal(t, start+10_000, tm.fired[0])
	}
}

func TestW14VeryFarDeadline(t *testing.T) {
	const far = int64(99_999_999_000) // 3.2 years at 1 ms
	tm := newTimer(0, 2)
	tm.after(0, far)
	require.True(t, tm.wheel.Cancel(0))
	require.Zero(t, tm.wheel.Len())

	tm.after(0, far)
	for range 10_000 { // near deadlines do not notice
		tm.after(1, 1)
		tm.advance(tm.now + 1)
		require.Equal(t, tm.now, tm.fired[1])
	}
	runs := tm.walk(far - 1)
	require.EqualValues(t, -1, tm.fired[0])
	require.Less(t, runs, 500, "a far deadline wakes the driver rarely")
	tm.walk(far)
	require.Equal(t, far, tm.fired[0])
}

// The earliest deadline may lie in a coarse level and a later one in a fine level,
// the other way round, or both in one bucket, wherever the cursor stands.
func TestW16NextIsNeverLate(t *testing.T) {
	for _, c := range []struct {
		first, then, second int64 // first is scheduled at 0, second when it is then
	}{
		{300, 250, 310}, // coarse, and a later one in the fine level
		{400, 250, 305}, // coarse, and a nearer one in the fine level
		{300, 60, 310},  // both coarse
		{300, 299, 300}, // at one moment, in two levels
		{256, 200, 257}, // at the edge of a coarse bucket
		{255, 200, 256},
		{5000, 4990, 5010}, // two levels up
		{4096, 4090, 4100},
	} {
		for _, start := range []int64{0, 1<<32 - 5, 1<<32 - 300} {
			tm := newTimer(start, 2)
			tm.after(0, c.first)
			for tm.now < start+c.then { // tick by tick, as one would who never asks Next
				tm.advance(tm.now + 1)
			}
			tm.after(1, c.second-c.then)
			earliest := min(c.first, c.second)
			for tm.now < start+earliest { // the driver sleeps until Next, and may not oversleep
				next, ok := tm.wheel.Next()
				require.True(t, ok)
				require.False(t, next.After(wheel.Tick(start+earliest)), "%+v from %d", c, start)
				tm.advance(tm.now + int64(next-wheel.Tick(tm.now)))
			}
			tm.walk(start + 6000)
			require.Equal(t, []int64{start + c.first, start + c.second}, tm.fired, "%+v from %d", c, start)
		}
	}
}

func TestW17GapAndStepsBack(t *testing.T) {
	const n, gap = 100_000, 600_000
	tm := newTimer(1<<32-5, n)
	start := tm.now
	for i := range uint32(n) {
		tm.after(i, 1+int64(i)*2*gap/n)
	}
	for _, back := range []int64{1, hour, 1 << 30} {
		due, more := tm.wheel.Advance(wheel.Tick(start-back), make([]uint32, 0, 8))
		require.Empty(t, due)
		require.False(t, more)
	}
	require.Equal(t, wheel.Tick(start), tm.wheel.Now())

	calls, out := 0, 0
	buf := make([]uint32, 0, 1024)
	for more := true; more; calls++ {
		var due []uint32
		due, more = tm.wheel.Advance(wheel.Tick(start+gap), buf)
		for _, i := range due {
			require.EqualValues(t, -1, tm.fired[i])
			require.LessOrEqual(t, tm.at[i], start+gap)
			tm.fired[i] = start + gap
			out++
		}
	}
	require.Equal(t, n/2, out)
	require.Equal(t, n/2, tm.wheel.Len())
	require.Less(t, calls, gap/1000, "the gap is not walked tick by tick")
	tm.now = start + gap
	for i := uint32(n / 2); i < n; i += 997 { // the others keep their time
		tm.walk(tm.at[i])
		require.Equal(t, tm.at[i], tm.fired[i])
	}
}
