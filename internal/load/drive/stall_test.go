package drive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/plan"
)

// A peer that stops reading for longer than the run lasts: the run ends in time and
// adds up, once the peer has read what was sent.
func TestStallLongerThanTheRun(t *testing.T) {
	stalled := echo.Shape{StallFor: time.Hour, StallAfter: 300 * ms, Delay: constant(10 * ms)}
	for _, mode := range modes {
		for name, c := range map[string]drive.Config{
			"open":   {Mode: mode, Schedule: steady(1000, 2*time.Second), Duration: 2 * time.Second, InFlight: 64, Timeout: 200 * ms},
			"closed": {Mode: mode, Duration: 2 * time.Second, InFlight: 64, Timeout: 200 * ms},
		} {
			virtual(t, name+"/"+mode.String(), func(t *testing.T) {
				r := against(t, t.Context(), c, stalled)
				requireAddsUp(t, r)
				require.NotZero(t, r.Ends().Timeout)
				require.Less(t, r.Elapsed, 2300*ms)
				require.LessOrEqual(t, r.Sending, 2010*ms)
			})
		}
	}
}

// The same where the write buffer fills up as well: what finds no room is never
// written, and the server is not expected to have seen it.
func TestStallWithAFullWriteBuffer(t *testing.T) {
	const size = 20_000 // of which the pipe holds a dozen
	small := func(o *conn.Options) { o.WriteBuffer = 3 * size }
	for _, mode := range modes {
		for _, shape := range []echo.Shape{
			{StallFor: time.Hour, StallAfter: 300 * ms, Delay: constant(50 * ms)},
			{StallFor: 400 * ms, StallAfter: 300 * ms, Delay: constant(50 * ms)},
		} {
			for _, loop := range []string{"open", "closed", "counted"} {
				virtual(t, loop+"/"+shape.String()+"/"+mode.String(), func(t *testing.T) {
					c := drive.Config{Mode: mode, InFlight: 32, Timeout: 200 * ms, Payload: plan.NewPayload(size, size, 1)}
					switch loop {
					case "open":
						c.Schedule, c.Duration = steady(500, 2*time.Second), 2*time.Second
					case "closed":
						c.Duration = 2 * time.Second
					default:
						c.Requests = 300 // what finds no room for as long as a call may take is dropped
					}
					r := against(t, t.Context(), c, shape, small)
					requireAddsUp(t, r)
					require.NotZero(t, r.Ends().Timeout)
					if mode == drive.Blocking { // the others do not make a call before there is room
						require.NotZero(t, r.Unsent)
					}
					if c.Requests > 0 {
						require.EqualValues(t, 300, r.Planned)
						if shape.StallFor > time.Minute && mode != drive.Blocking {
							require.NotZero(t, r.Dropped)
						}
						require.Less(t, r.Elapsed, 10*time.Second)
						return
					}
					require.Less(t, r.Elapsed, 2300*ms)
				})
			}
		}
	}
}
