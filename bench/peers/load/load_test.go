package load_test

import (
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/peers/load"
)

func TestHistogramQuantiles(t *testing.T) {
	var h load.Histogram
	require.True(t, math.IsNaN(h.Counts().Quantile(0.5)))
	for i := 1; i <= 1000; i++ {
		h.Record(i, time.Duration(i)*time.Microsecond)
	}
	h.Record(0, -time.Second) // a clock that steps back is no reason to fail
	h.Record(0, 1000*time.Hour)
	c := h.Counts()
	require.EqualValues(t, 1002, c.Total())
	for q, want := range map[float64]float64{0.5: 500e3, 0.99: 991e3, 0.001: 1e3} {
		require.InEpsilon(t, want, c.Quantile(q), 0.02)
	}
	require.Zero(t, c.Quantile(1.0/2000))
	require.Greater(t, c.Quantile(1), float64(time.Hour))
	before := slices.Clone(c)
	h.Record(3, time.Second)
	since := h.Counts().Sub(before)
	require.EqualValues(t, 1, since.Total())
	require.InEpsilon(t, 1e9, since.Quantile(1), 0.02)
}

// Small values have buckets of their own, and no bucket is wider than 1.6 %.
func TestHistogramIsExactForSmallValues(t *testing.T) {
	for v := range time.Duration(64) {
		var h load.Histogram
		h.Record(0, v)
		require.EqualValues(t, v, h.Counts().Quantile(1))
	}
	for v := time.Duration(64); v < time.Hour; v = v*21/20 + 1 {
		var h load.Histogram
		h.Record(0, v)
		require.InEpsilon(t, float64(v), h.Counts().Quantile(0.5), 1.0/64)
	}
}

// plan is short: tests want no result.
var plan = load.Plan{Warm: time.Millisecond, Window: 5 * time.Millisecond, Most: 5 * time.Second, Budget: 5 * time.Second}

func TestClosedCountsTheWindow(t *testing.T) {
	var calls, writes atomic.Int64
	plan := plan
	plan.Window = 50 * time.Millisecond
	f, err := load.Closed(3, plan, load.Meter{Writes: writes.Load}, func() (func() error, error) {
		return func() error {
			calls.Add(1)
			writes.Add(2)
			return nil
		}, nil
	})
	require.NoError(t, err)
	require.Positive(t, f[load.Rate])
	require.Less(t, f[load.Rate]*plan.Window.Seconds(), float64(calls.Load()))
	require.InEpsilon(t, 2, f[load.WriteCall], 0.2)
	require.Zero(t, f[load.Errors])
	require.Contains(t, f, load.P999)
	require.LessOrEqual(t, f[load.P50], f[load.P99])
}

// What takes longer than the window is given time, so that its latencies are not
// those of the first answers only.
func TestClosedWaitsForSlowCalls(t *testing.T) {
	f, err := load.Closed(1, plan, load.Meter{}, func() (func() error, error) {
		return func() error { <-time.After(20 * time.Millisecond); return nil }, nil
	})
	require.NoError(t, err)
	require.Greater(t, f[load.P50], float64(5*time.Millisecond))
}

func TestClosedFails(t *testing.T) {
	broken := errors.New("broken")
	_, err := load.Closed(1, plan, load.Meter{}, func() (func() error, error) { return nil, broken })
	require.ErrorIs(t, err, broken)

	_, err = load.Closed(2, plan, load.Meter{}, func() (func() error, error) {
		return func() error { return broken }, nil
	})
	require.ErrorIs(t, err, broken, "every call fails")

	_, err = load.Closed(2, plan, load.Meter{}, func() (func() error, error) {
		return func() error { return errors.Join(broken, load.ErrEnd) }, nil
	})
	require.ErrorIs(t, err, broken, "callers end")

	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	soon := plan
	soon.Most = 20 * time.Millisecond
	_, err = load.Closed(2, soon, load.Meter{}, func() (func() error, error) {
		return func() error { <-never; return nil }, nil
	})
	require.ErrorIs(t, err, load.ErrStuck)
}

// A few failures are a number in a column; more are no measurement.
func TestClosedCountsRareErrors(t *testing.T) {
	n := 0
	f, err := load.Closed(1, load.Plan{Warm: time.Millisecond, Window: 20 * time.Millisecond, Most: time.Second, Budget: time.Second}, load.Meter{},
		func() (func() error, error) {
			return func() error {
				if n++; n == 5000 {
					return errors.New("once")
				}
				return nil
			}, nil
		})
	require.NoError(t, err)
	require.LessOrEqual(t, f[load.Errors], 1.0)
}

// Latency counts from the planned time: a client that answers nothing for a while
// shows it in every call that fell due meanwhile.
func TestOpenCountsFromThePlannedTime(t *testing.T) {
	const stall = 40 * time.Millisecond
	began := time.Now()
	f, err := load.Open(load.Schedule{Rate: 2000, Window: 100 * time.Millisecond, InFlight: 1000, Budget: 5 * time.Second}, load.Meter{},
		func(done func(error)) {
			go func() {
				if rest := stall - time.Since(began); rest > 0 {
					<-time.After(rest)
				}
				done(nil)
			}()
		})
	require.NoError(t, err)
	require.Greater(t, f[load.P99], float64(stall)*0.8)
	require.Less(t, f[load.P50], f[load.P99])
}

func TestOpenSaysThatTheRateIsNotHeld(t *testing.T) {
	_, err := load.Open(load.Schedule{Rate: 1e5, Window: 10 * time.Second, InFlight: 10, Budget: time.Second}, load.Meter{}, func(func(error)) {})
	require.ErrorContains(t, err, "does not hold")
	_, err = load.Open(load.Schedule{Rate: 1000, Window: 2 * time.Millisecond, InFlight: 10, Budget: time.Millisecond}, load.Meter{}, func(func(error)) {})
	require.ErrorIs(t, err, load.ErrStuck)
}

func TestWorkers(t *testing.T) {
	var calls atomic.Int64
	begin, err := load.Workers(4, func() (func() error, error) {
		return func() error { calls.Add(1); return nil }, nil
	})
	require.NoError(t, err)
	ended := make(chan error)
	for range 10 {
		begin(func(err error) { ended <- err })
		require.NoError(t, <-ended)
	}
	require.EqualValues(t, 10, calls.Load())
	_, err = load.Workers(1, func() (func() error, error) { return nil, errors.New("no") })
	require.Error(t, err)
}
