package drive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/drive"
)

// A server that takes 1 ms and freezes from 5 s to 6 s, loaded for 10 s. Of
// 10,000 requests at 1,000 a second the 1,000 that are due during the freeze wait
// for between 1 s and nothing: 5 % wait longer than half a second, 1 % longer
// than nine tenths.
func TestB08LoadGeneratorHidesStalls(t *testing.T) {
	frozen := echo.Shape{Delay: constant(ms), StallFor: time.Second, StallAfter: 5 * time.Second}
	near := func(t *testing.T, want time.Duration, got int64, what string) {
		t.Helper()
		require.InDelta(t, want.Seconds(), time.Duration(got).Seconds(), 0.02, what)
	}
	for _, mode := range modes {
		for _, test := range []struct {
			name     string
			inFlight int
		}{{"roomy", 10_000}, {"capped", 50}} {
			virtual(t, "open/"+test.name+"/"+mode.String(), func(t *testing.T) {
				r := against(t, t.Context(), drive.Config{Mode: mode, Schedule: steady(1000, 10*time.Second), InFlight: test.inFlight}, frozen)
				requireAddsUp(t, r)
				h := r.Total.Response
				require.EqualValues(t, 10_000, h.TotalCount())
				require.InEpsilon(t, time.Millisecond, h.ValueAtPercentile(50), 0.01)
				near(t, 500*ms, h.ValueAtPercentile(95), "p95")
				near(t, 900*ms, h.ValueAtPercentile(99), "p99")
				near(t, time.Second, h.Max(), "max")
				if test.inFlight == 50 {
					// Held back, the rest were sent late: their service times hide it.
					require.InEpsilon(t, time.Millisecond, r.Total.Service.ValueAtPercentile(99), 0.01)
				}
			})
		}
		// A closed loop asks nothing during the freeze: one call in some 9,000 sees it.
		virtual(t, "closed/"+mode.String(), func(t *testing.T) {
			r := against(t, t.Context(), drive.Config{Mode: mode, Duration: 10 * time.Second, InFlight: 1}, frozen)
			requireAddsUp(t, r)
			require.InDelta(t, 9000, r.Sent, 10)
			require.InEpsilon(t, time.Millisecond, r.Total.Response.ValueAtPercentile(99.9), 0.01)
			near(t, time.Second, r.Total.Response.Max(), "max")
		})
	}
}
