package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/wheel"
)

// Ticks are 32 bits and compare by their difference. An engine that had nothing to
// do for longer than half of that must not take the next deadline for a past one,
// nor for one in the far future.
func TestDeadlinesAfterWeeksOfNothing(t *testing.T) {
	for _, days := range []int{1, 12, 13, 24, 25, 40, 49, 50, 60, 74, 75, 99, 100, 400} {
		for _, origin := range []uint32{0, 1<<31 - 3, 1<<32 - 5} {
			t.Run(fmt.Sprintf("%d days from tick %d", days, origin), func(t *testing.T) {
				r := newRig(t, options{}, engine.Tuning{Origin: wheel.Tick(origin)})
				for range 3 {
					c := r.begin(call{Timeout: time.Second})
					r.clock.Advance(time.Second)
					r.pending(c)
					r.expire(time.Millisecond) // a tick more where one stands for none
					require.ErrorIs(t, r.outcome(c).Err, engine.ErrTimeout)
					r.clock.Advance(engine.DefaultGrace)
					require.Zero(t, r.clock.Timers())
					runs := r.Stats().WheelRuns
					r.clock.Advance(time.Duration(days) * 24 * time.Hour)
					require.Equal(t, runs, r.Stats().WheelRuns, "nothing to do, nothing done")
				}
				r.quiet()
			})
		}
	}
}
