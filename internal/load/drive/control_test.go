package drive_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/drive"
)

// steered runs c while steer does something at times of the bubble.
func steered(t *testing.T, c drive.Config, shape echo.Shape, steer func(at func(time.Duration), control *drive.Control)) ran {
	t.Helper()
	control := new(drive.Control)
	c.Control = control
	var events []drive.Event
	c.OnEvent = func(e drive.Event) { events = append(events, e) }
	began := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		steer(func(at time.Duration) {
			select {
			case <-time.After(at - time.Since(began)):
			case <-ctx.Done():
			}
		}, control)
	}()
	r := against(t, t.Context(), c, shape)
	cancel()
	<-done
	require.Equal(t, r.Events, events, "what was told is what is kept")
	return r
}

func texts(events []drive.Event) (out []string) {
	for _, e := range events {
		out = append(out, e.Text)
	}
	return out
}

// A pause moves the rest of the schedule and the end of the run; nothing is sent
// meanwhile, and nothing is dropped or behind for it.
func TestPause(t *testing.T) {
	for _, mode := range modes {
		virtual(t, "open/"+mode.String(), func(t *testing.T) {
			r := steered(t, drive.Config{Mode: mode, Schedule: steady(100, 10*time.Second), Duration: 10 * time.Second, InFlight: 10},
				echo.Shape{Delay: constant(ms)}, func(at func(time.Duration), c *drive.Control) {
					at(2005 * ms)
					c.Pause()
					at(5005 * ms)
					c.Resume()
				})
			requireAddsUp(t, r)
			require.EqualValues(t, 1000, r.Sent)
			require.Zero(t, r.Behind)
			require.InDelta(t, 10, r.Sending.Seconds(), 0.01)
			require.InDelta(t, 3, r.Paused.Seconds(), 0.01)
			require.InDelta(t, 13, r.Elapsed.Seconds(), 0.02)
			require.InDelta(t, 100, r.Asked(), 0.5)
			require.InDelta(t, 100, r.Rate, 1)
			require.InEpsilon(t, ms, r.Total.Response.Max(), 0.01, "nobody waited")
			require.Equal(t, []string{"paused", "resumed"}, texts(r.Events))
			require.InDelta(t, 2.005, r.Events[0].At, 0.02)
			require.InDelta(t, 5.005, r.Events[1].At, 0.02)
			require.Zero(t, r.Rows[3].Sent)
			require.Zero(t, r.Rows[4].Ends.Sum())
		})
		virtual(t, "closed/"+mode.String(), func(t *testing.T) {
			r := steered(t, drive.Config{Mode: mode, Duration: 2 * time.Second, Warmup: time.Second, InFlight: 4},
				echo.Shape{Delay: constant(10 * ms)}, func(at func(time.Duration), c *drive.Control) {
					at(500 * ms) // in the warm-up
					c.Pause()
					at(1500 * ms)
					c.Resume()
					at(3005 * ms)
					c.Pause()
					at(5005 * ms)
					c.Resume()
				})
			requireAddsUp(t, r)
			require.InDelta(t, 2, r.Sending.Seconds(), 0.02)
			require.InDelta(t, 3, r.Paused.Seconds(), 0.02)
			require.InDelta(t, 6, r.Elapsed.Seconds(), 0.05)
			require.InDelta(t, 400, r.Total.Warm.OK, 12)
			require.InDelta(t, 800, r.Total.Measured.OK, 24)
			require.InDelta(t, float64(10*ms), float64(r.Total.Response.Max()), float64(2*ms), "a caller that is held back does not wait")
		})
	}
}

// What was due before a pause keeps its time, and what came after it moves.
func TestPauseWithABacklog(t *testing.T) {
	for _, mode := range modes {
		virtual(t, mode.String(), func(t *testing.T) {
			r := steered(t, drive.Config{Mode: mode, Schedule: steady(100, 2*time.Second), InFlight: 1},
				echo.Shape{Delay: constant(20 * ms)}, func(at func(time.Duration), c *drive.Control) {
					at(1005 * ms) // a hundred are due, fifty are sent
					c.Pause()
					at(2005 * ms)
					c.Resume()
				})
			requireAddsUp(t, r)
			require.EqualValues(t, 200, r.Sent)
			require.Equal(t, r.Behind, r.Held)
			// The last was due at 1.99 s, 2.99 with the pause; 200 calls of 20 ms one
			// after the other end at 5 s.
			require.InDelta(t, 2, time.Duration(r.Total.Response.Max()).Seconds(), 0.05)
		})
	}
}

func TestScale(t *testing.T) {
	for _, mode := range modes {
		virtual(t, mode.String(), func(t *testing.T) {
			r := steered(t, drive.Config{Mode: mode, Schedule: steady(100, 10*time.Second), Duration: 10 * time.Second, InFlight: 10},
				echo.Shape{Delay: constant(ms)}, func(at func(time.Duration), c *drive.Control) {
					at(5005 * ms)
					require.InDelta(t, 2, c.Nudge(2), 1e-9)
					at(8005 * ms)
					c.Scale(0.5)
				})
			requireAddsUp(t, r)
			require.InDelta(t, 500+600+100, r.Sent, 4)
			require.InDelta(t, 10, r.Sending.Seconds(), 0.02)
			require.Zero(t, r.Behind)
			require.Equal(t, []string{"rate × 2", "rate × 0.5"}, texts(r.Events))
			require.InDelta(t, 0.5, r.Steering.Factor, 1e-9)
		})
	}
}

func TestStop(t *testing.T) {
	for _, mode := range modes {
		for _, open := range []bool{true, false} {
			for _, paused := range []bool{false, true} {
				virtual(t, fmt.Sprintf("open=%v/paused=%v/%v", open, paused, mode), func(t *testing.T) {
					c := drive.Config{Mode: mode, Duration: time.Hour, InFlight: 10}
					if open {
						c.Schedule = steady(100, time.Hour)
					}
					r := steered(t, c, echo.Shape{Delay: constant(50 * ms)}, func(at func(time.Duration), c *drive.Control) {
						if paused {
							at(1001 * ms)
							c.Pause()
						}
						at(3001 * ms)
						c.Stop()
					})
					requireAddsUp(t, r)
					require.False(t, r.Interrupted)
					require.False(t, r.Cut)
					require.NotZero(t, r.Ends().OK)
					require.InDelta(t, 3.05, r.Elapsed.Seconds(), 0.06)
					if !paused {
						require.InDelta(t, 3, r.Sending.Seconds(), 0.02)
					}
					require.Contains(t, texts(r.Events), "stopped")
					if c.Schedule != nil {
						require.InDelta(t, 100, r.Asked(), 1)
					}
				})
			}
		}
	}
}

func TestControlBounds(t *testing.T) {
	var c drive.Control
	require.Equal(t, drive.Steering{Factor: 1}, c.Steering())
	require.Equal(t, drive.FactorMin, c.Scale(0))
	require.Equal(t, drive.FactorMin, c.Scale(math.NaN()))
	require.EqualValues(t, drive.FactorMax, c.Scale(math.Inf(1)))
	c.Pause()
	c.Stop()
	require.Equal(t, drive.Steering{Factor: drive.FactorMax, Stopped: true}, c.Steering())
}
