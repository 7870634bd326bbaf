package drive_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/plan"
	"github.com/correlator-go/correlator/internal/load/tally"
)

func sumOf(parts []tally.Part) (sum tally.Ends) {
	for _, p := range parts {
		sum = sum.Add(p.Ends)
	}
	return sum
}

// Equal connections get equal parts of the load.
func TestConnectionsAreServedAlike(t *testing.T) {
	shapes := make([]echo.Shape, 4)
	for i := range shapes {
		shapes[i].Delay = constant(5 * ms)
	}
	for _, mode := range modes {
		for name, c := range map[string]drive.Config{
			"open":   {Mode: mode, Schedule: steady(1000, 2*time.Second), InFlight: 64},
			"closed": {Mode: mode, Duration: time.Second, InFlight: 64},
		} {
			virtual(t, name+"/"+mode.String(), func(t *testing.T) {
				r := againstAll(t, t.Context(), c, shapes)
				requireAddsUp(t, r)
				require.Len(t, r.Connections, 4)
				require.Equal(t, r.Total.Measured, sumOf(r.Connections))
				for _, p := range r.Connections {
					require.EqualValues(t, p.Ends.OK, p.Response.Count)
					if mode != drive.Blocking || c.Schedule == nil { // there callers, not connections, take turns
						require.InEpsilon(t, float64(r.Sent)/4, float64(p.Ends.OK), 0.02)
					}
					require.InEpsilon(t, 5*ms, p.Response.P50, 0.02)
				}
			})
		}
	}
}

// A connection whose peer is stuck holds up its own share of the calls, and no other.
func TestOneStuckConnectionHoldsUpItsOwnShare(t *testing.T) {
	quick := echo.Shape{Delay: constant(50 * ms)}
	stuck := echo.Shape{Delay: constant(20 * ms), StallFor: time.Hour}
	const size = 20_000 // of which neither the pipe nor the write buffer hold twenty
	small := func(o *conn.Options) { o.WriteBuffer = 3 * size }
	for _, mode := range modes {
		for _, open := range []bool{true, false} {
			virtual(t, fmt.Sprintf("open=%v/%v", open, mode), func(t *testing.T) {
				c := drive.Config{Mode: mode, Duration: 2 * time.Second, InFlight: 60, Timeout: time.Hour, End: drive.Cut, Payload: plan.NewPayload(size, size, 1)}
				if open {
					c.Schedule = steady(500, 2*time.Second)
				}
				r := againstAll(t, t.Context(), c, []echo.Shape{quick, stuck, quick}, small)
				require.NoError(t, r.err)
				require.Empty(t, drive.Audit(r.Result, &r.server, false))
				require.LessOrEqual(t, r.Connections[1].Ends.Sum(), int64(20))
				both := r.Connections[0].Ends.OK + r.Connections[2].Ends.OK
				if open {
					require.InDelta(t, 1000-20-25, both, 30, "all but what is stuck, and what is out at the end")
				} else {
					require.InDelta(t, 2*20*40, both, 60)
				}
			})
		}
	}
}

// One connection that ends is the end of the run, and is named.
func TestOneConnectionDies(t *testing.T) {
	for _, mode := range modes {
		virtual(t, mode.String(), func(t *testing.T) {
			r := againstAll(t, t.Context(), drive.Config{Mode: mode, Duration: 10 * time.Second, InFlight: 16},
				[]echo.Shape{{Delay: constant(ms)}, {Delay: constant(ms), DieAfter: 100}})
			require.ErrorContains(t, r.err, "connection 2 of 2: ")
			require.Less(t, r.Elapsed, time.Second)
			require.Empty(t, drive.Audit(r.Result, &r.server, true))
			require.NotZero(t, r.Ends().Lost)
		})
	}
}

func TestTooManyConnections(t *testing.T) {
	for _, links := range [][]*conn.Conn{nil, make([]*conn.Conn, 3)} {
		_, err := drive.Run(t.Context(), links, drive.Config{Duration: time.Second, InFlight: 2})
		require.Error(t, err)
	}
}

// Each kind of request of a mix gets its share, and its own figures.
func TestMix(t *testing.T) {
	mix, err := plan.NewMix([]plan.Entry{
		{Name: "often", Method: "a", Payload: plan.FixedPayload([]byte(`[1]`)), Weight: 3},
		{Name: "seldom", Method: "b", Payload: plan.FixedPayload([]byte(`[2]`)), Weight: 1, Tool: true},
	}, 7)
	require.NoError(t, err)
	for _, mode := range modes {
		virtual(t, mode.String(), func(t *testing.T) {
			r := against(t, t.Context(), drive.Config{
				Mode: mode, Requests: 4000, InFlight: 16, Mix: mix, Refused: func(result []byte) bool { return true },
			}, echo.Shape{})
			requireAddsUp(t, r)
			require.Len(t, r.Entries, 2)
			require.Equal(t, r.Total.Measured, sumOf(r.Entries))
			require.InDelta(t, 3000, r.Entries[0].Ends.OK, 100)
			require.Zero(t, r.Entries[0].Ends.Error, "only a tool can say that it failed")
			require.Zero(t, r.Entries[1].Ends.OK)
			require.EqualValues(t, 4000, r.Entries[0].Ends.OK+r.Entries[1].Ends.Error)
			require.Nil(t, r.Connections)
		})
	}
}
