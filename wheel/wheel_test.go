package wheel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/invariants"
	"github.com/correlator-go/correlator/wheel"
)

func TestZeroValue(t *testing.T) {
	var w wheel.Wheel
	_, ok := w.Next()
	require.False(t, ok)
	require.False(t, w.Cancel(0))
	_, ok = w.At(7)
	require.False(t, ok)
	due, more := w.Advance(1<<31+7, nil)
	require.Empty(t, due)
	require.False(t, more)
	require.Equal(t, wheel.Tick(1<<31+7), w.Now(), "an empty wheel takes over any now")
}

func TestScheduleMisuseIsLoud(t *testing.T) {
	var w wheel.Wheel
	require.Panics(t, func() { w.Schedule(0, 1) }, "no such entry")
	w.Grow(1)
	w.Schedule(0, 1)
	require.PanicsWithValue(t, "wheel: Schedule of a resident entry", func() { w.Schedule(0, 2) })
	require.Equal(t, 1, w.Len())
}

func TestGrowKeepsResidents(t *testing.T) {
	var w wheel.Wheel
	for n := range 1000 {
		w.Grow(n + 1)
		w.Grow(1)
		w.Schedule(uint32(n), wheel.Tick(n%7))
	}
	due, more := w.Advance(7, make([]uint32, 0, 1000))
	require.False(t, more)
	require.Len(t, due, 1000)
}

func TestTickIsModular(t *testing.T) {
	late := wheel.Tick(1<<32 - 5)
	require.True(t, late.Before(3))
	require.True(t, wheel.Tick(3).After(late))
	require.EqualValues(t, 8, wheel.Tick(3).Sub(late))
	require.EqualValues(t, -8, late.Sub(3))
	require.False(t, late.Before(late))
}

func TestCancelWhileAdvanceIsHalfDone(t *testing.T) {
	w := wheel.New(0)
	w.Grow(10)
	for i := range uint32(10) {
		w.Schedule(i, 5000)
	}
	due, more := w.Advance(5000, make([]uint32, 0, 4))
	require.Len(t, due, 4)
	require.True(t, more)
	next, ok := w.Next()
	require.True(t, ok)
	require.Equal(t, w.Now(), next)
	out := map[uint32]bool{}
	for _, i := range due {
		out[i] = true
		require.False(t, w.Cancel(i), "handed out")
	}
	for i := range uint32(10) { // all the rest, whatever their place in the list
		require.Equal(t, !out[i], w.Cancel(i))
	}
	due, more = w.Advance(5000, due[:0])
	require.Empty(t, due)
	require.False(t, more)
}

func TestNoRoomHandsNothingOut(t *testing.T) {
	w := wheel.New(0)
	w.Grow(1)
	w.Schedule(0, 3)
	due, more := w.Advance(3, nil)
	require.Empty(t, due)
	require.True(t, more)
	require.Equal(t, 1, w.Len())
}

// storm is how many entries fall due in one tick.
const storm = 1 << 20

func TestMillionDueInOneTick(t *testing.T) {
	w := wheel.New(1<<32 - 5)
	w.Grow(storm + 1)
	at := w.Now() + 30_000
	for i := range uint32(storm) {
		w.Schedule(i, at)
	}
	buf := make([]uint32, 0, 512)
	seen := make([]bool, storm)
	count, calls, added := 0, 0, false
	for count < storm {
		due, more := w.Advance(at, buf)
		calls++
		require.Less(t, calls, storm/256+2*storm/wheel.MovesMax+100, "every call makes progress")
		require.True(t, more || w.Len() == 0)
		for _, i := range due {
			if i < storm {
				require.False(t, seen[i])
				seen[i] = true
				count++
			}
		}
		if !added { // scheduling goes on in the middle of it
			w.Schedule(storm, at-1)
			added = true
		}
	}
	for w.Len() > 0 {
		w.Advance(at, buf)
	}
	require.Equal(t, at, w.Now())
}

func TestAdvanceMovesABoundedNumber(t *testing.T) {
	const n = 3 * wheel.MovesMax
	w := wheel.New(0)
	w.Grow(n)
	for i := range uint32(n) {
		w.Schedule(i, 5000+wheel.Tick(i%64)) // one bucket of level 2, none due at its begin
	}
	calls := 0
	for more := true; more; calls++ {
		var due []uint32
		due, more = w.Advance(4500, make([]uint32, 0, 4))
		require.Empty(t, due)
	}
	require.Equal(t, 3, calls)
	require.Equal(t, n, w.Len())
}

func TestNothingAllocates(t *testing.T) {
	if invariants.Race || invariants.Enabled {
		t.Skip("the gate counts a plain build")
	}
	const n = 1000
	w := wheel.New(1<<32 - 5)
	w.Grow(n)
	buf := make([]uint32, 0, n)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for i := range uint32(n) {
			w.Schedule(i, w.Now()+wheel.Tick(i*i))
		}
		for i := range uint32(n / 2) {
			w.Cancel(i * 2)
		}
		for w.Len() > 0 {
			next, _ := w.Next()
			w.Advance(next, buf)
		}
	}))
}
