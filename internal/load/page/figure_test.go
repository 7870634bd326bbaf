package page

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFigures(t *testing.T) {
	for ns, want := range map[float64]string{
		-1: "0\u00a0ns", 0: "0\u00a0ns", 7: "7\u00a0ns", 999.4: "999\u00a0ns", 999.6: "1.00\u00a0µs", 1234: "1.23\u00a0µs", 99_960: "100\u00a0µs",
		12_345_678: "12.3\u00a0ms", 999_600_000: "1.00\u00a0s", 3.6e12: "3,600\u00a0s",
	} {
		require.Equal(t, want, latency(ns).String(), "%v", ns)
	}
	require.Equal(t, "0/s", perSecond(0).String())
	require.Equal(t, "12.5/s", perSecond(12.5).String())
	require.Equal(t, "1,234,568/s", perSecond(1234567.8).String())
	require.Equal(t, "-1,234", count(-1234).String())
	require.Equal(t, "0%", share(0, 10).String())
	require.Equal(t, "0%", share(1, 0).String())
	require.Equal(t, "<0.001%", share(1, 1_000_000_000).String())
	require.Equal(t, "0.010%", share(1, 10_000).String())
	require.Equal(t, "100%", share(7, 7).String())
	require.Equal(t, "50.0%", share(1, 2).String())
	require.Equal(t, "+50.0%", change(2, 3).String())
	require.Equal(t, "\u221250.0%", change(2, 1).String())
	require.Equal(t, "±0%", change(0, 0).String())
	require.Equal(t, "–", change(0, 1).String(), "no percentage of nothing")
	require.Equal(t, []string{"0", "<0.001", "0.012", "3.46", "1,234"}, []string{small(0), small(1e-9), small(0.0123), small(3.456), small(1234)})
	require.Equal(t, "500\u00a0ms", length(0.5))
	for seconds, want := range map[float64]string{0: "0\u00a0ns", 2.25: "2.2\u00a0s", 59: "59\u00a0s", 60: "1\u00a0min", 90: "1\u00a0min 30\u00a0s", 600: "10\u00a0min", 36_610: "10\u00a0h 10\u00a0min 10\u00a0s"} {
		require.Equal(t, want, length(seconds))
	}
	require.Equal(t, "90\u00a0s", moment(90, 100))
	require.Equal(t, []string{"1:30", "1:01:05"}, []string{moment(90, 300), moment(3665, 7200)})
	require.Equal(t, []string{"0", "0.25", "950", "1.2k", "3M"}, []string{compact(0), compact(0.25), compact(950), compact(1200), compact(3e6)})
	require.Equal(t, `loadgen -args '{"a":"it'\''s"}' '' -rate 5k/s`, commandLine([]string{"-args", `{"a":"it's"}`, "", "-rate", "5k/s"}))
}

// Whatever has to be held is held between round ends, and a few labels lie inside.
func TestScalesHoldWhatTheyShow(t *testing.T) {
	for _, v := range [][2]float64{{1, 1}, {1, 3}, {950, 1000}, {1000, 1000}, {999, 3_600_000_000_000}, {12_345, 678_901}, {2e6, 2e6}, {5, 5e12}} {
		s := logarithmic(v[0], v[1])
		require.LessOrEqual(t, s.from, v[0])
		require.GreaterOrEqual(t, s.to, v[1])
		require.Greater(t, s.to, s.from)
		labels(t, &s)
		require.InDelta(t, span, s.at(s.to), 1e-6)
		require.InDelta(t, span, s.down(s.from), 1e-6)
	}
	for _, v := range []float64{-1, 0, 1e-9, 0.3, 1, 7, 1234, 1e15, math.Inf(1), math.NaN()} {
		s := linear(v, 4, compact)
		labels(t, &s)
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			require.GreaterOrEqual(t, s.to, v)
		}
		c := clock(v)
		labels(t, &c)
	}
	require.Equal(t, []tick{{0, "0"}, {50, "1k"}, {100, "2k"}}, func() []tick { s := linear(1900, 2, compact); return s.ticks }())
}

func labels(t *testing.T, s *scale) {
	t.Helper()
	require.GreaterOrEqual(t, len(s.ticks), 1)
	require.LessOrEqual(t, len(s.ticks), 14)
	for i, k := range s.ticks {
		require.True(t, k.At >= 0 && k.At <= 100, k)
		require.NotEmpty(t, k.Text)
		if i > 0 {
			require.Greater(t, k.At, s.ticks[i-1].At)
			require.NotEqual(t, k.Text, s.ticks[i-1].Text)
		}
	}
}

func TestPercentLabels(t *testing.T) {
	var got []string
	for n := 1.0; n <= 6; n++ {
		got = append(got, percentText(n))
	}
	require.Equal(t, []string{"90%", "99%", "99.9%", "99.99%", "99.999%", "99.9999%"}, got)
	require.Equal(t, "68.4%", percentText(0.5))
}
