package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/engine"
)

func TestStartedIsWhereTimeCountsFrom(t *testing.T) {
	clock := engine.NewManualClock()
	clock.Advance(time.Minute)
	e, err := engine.New(engine.Options[int]{Clock: clock})
	require.NoError(t, err)
	defer e.Close()
	clock.Advance(time.Second)
	before := e.Now()
	clock.Advance(300 * time.Millisecond)

	var ends [2]engine.Outcome[int]
	for i, started := range []time.Duration{before, 0} {
		_, err := e.Begin(context.Background(), engine.CallOptions[int]{
			Timeout: time.Second, Started: started, Notify: func(o engine.Outcome[int]) { ends[i] = o },
		})
		require.NoError(t, err)
	}
	clock.Advance(702 * time.Millisecond)
	require.ErrorIs(t, ends[0].Err, engine.ErrTimeout)
	require.NoError(t, ends[1].Err, "a second of its own is not over")
	clock.Advance(300 * time.Millisecond)
	require.ErrorIs(t, ends[1].Err, engine.ErrTimeout)
}
