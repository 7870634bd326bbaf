package engine_test

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/engine"
)

// countingClock counts the timers that are due at once.
type countingClock struct {
	engine.Clock
	atOnce atomic.Int64
}

func (c *countingClock) AfterFunc(d time.Duration, f func()) engine.Timer {
	if d <= 0 {
		c.atOnce.Add(1)
	}
	return c.Clock.AfterFunc(d, f)
}

func TestWaitingForRoomUnderAnEndlessGraceSearchesNothing(t *testing.T) {
	for _, o := range []engine.Options[int]{
		{Grace: math.MaxInt64},
		{Grace: math.MaxInt64, Timeout: math.MaxInt64},
		{Timeout: math.MaxInt64},
	} {
		clock := &countingClock{Clock: engine.NewManualClock()}
		o.MaxPending, o.Overflow, o.Clock = 1, engine.OverflowWait, clock
		e, err := engine.New(o)
		require.NoError(t, err)
		_, err = e.Begin(nil, engine.CallOptions[int]{Timeout: time.Second})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = e.Begin(ctx, engine.CallOptions[int]{})
		require.ErrorIs(t, err, engine.ErrCancelled)
		require.Zero(t, clock.atOnce.Load())
	}
}
