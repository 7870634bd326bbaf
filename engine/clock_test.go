package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/engine"
)

func TestManualClockRunsTimersInOrder(t *testing.T) {
	c := engine.NewManualClock()
	require.Zero(t, c.Now())
	var ran []string
	note := func(name string) func() {
		return func() { ran = append(ran, fmt.Sprint(name, "@", c.Now())) }
	}
	c.AfterFunc(3*time.Second, note("c"))
	c.AfterFunc(time.Second, note("a"))
	c.AfterFunc(time.Second, note("b")) // set later, so it runs later
	c.AfterFunc(2*time.Second, func() { c.AfterFunc(500*time.Millisecond, note("inner")) })
	c.AfterFunc(-time.Hour, note("past"))
	require.Empty(t, ran, "nothing runs before Advance")
	require.Equal(t, 5, c.Timers())
	c.Advance(0)
	c.Advance(2999 * time.Millisecond)
	require.Equal(t, []string{"past@0s", "a@1s", "b@1s", "inner@2.5s"}, ran)
	require.Equal(t, 2999*time.Millisecond, c.Now())
	require.Equal(t, 1, c.Timers())
	c.Advance(time.Hour)
	require.Equal(t, "c@3s", ran[4])
	require.Zero(t, c.Timers())
	require.Panics(t, func() { c.Advance(-1) })
}

func TestManualTimerStopAndReset(t *testing.T) {
	c := engine.NewManualClock()
	n := 0
	timer := c.AfterFunc(time.Second, func() { n++ })
	require.True(t, timer.Reset(2*time.Second))
	c.Advance(time.Second)
	require.Zero(t, n)
	require.True(t, timer.Stop())
	require.False(t, timer.Stop())
	c.Advance(time.Minute)
	require.Zero(t, n)
	require.False(t, timer.Reset(time.Second))
	c.Advance(time.Second)
	require.Equal(t, 1, n)
	require.False(t, timer.Stop())
}

// A minute of timeout costs a test no time.
func TestManualClockMakesAMinutePass(t *testing.T) {
	r := newRig(t, options{}, engine.Tuning{})
	began := time.Now()
	for range 100 {
		c := r.begin(call{})
		r.clock.Advance(time.Minute)
		r.pending(c)
		r.expire(0)
		require.ErrorIs(t, r.outcome(c).Err, engine.ErrTimeout)
	}
	require.Less(t, time.Since(began), 100*time.Minute/1000)
	r.quiet()
}

func TestSystemClock(t *testing.T) {
	c := engine.SystemClock()
	a := c.Now()
	fired := make(chan struct{})
	timer := c.AfterFunc(time.Millisecond, func() { close(fired) })
	<-fired
	require.False(t, timer.Stop())
	require.GreaterOrEqual(t, c.Now(), a+time.Millisecond)
}
