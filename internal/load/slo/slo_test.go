package slo_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/slo"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		text, metric, op string
		limit            float64
		unit             slo.Unit
	}{
		{"p99<5ms", "p99", "<", 5e6, slo.Duration},
		{"p99.99 <= 20ms", "p99.99", "<=", 20e6, slo.Duration},
		{"service.p50<1us", "service.p50", "<", 1e3, slo.Duration},
		{"max<1s", "max", "<", 1e9, slo.Duration},
		{"service.mean>0s", "service.mean", ">", 0, slo.Duration},
		{"error<0.1%", "error", "<", 0.001, slo.Share},
		{"error<10", "error", "<", 10, slo.Count},
		{"lost<=0", "lost", "<=", 0, slo.Count},
		{"rate>=4900", "rate", ">=", 4900, slo.PerSecond},
		{"rate>=5k/s", "rate", ">=", 5000, slo.PerSecond},
		{"offered>60/m", "offered", ">", 1, slo.PerSecond},
		{"allocs<1", "allocs", "<", 1, slo.PerCall},
		{"bytes<1.5k", "bytes", "<", 1500, slo.PerCall},
		{"cpu<2us", "cpu", "<", 2000, slo.Duration},
		{"gc<=3", "gc", "<=", 3, slo.Count},
	} {
		goals, err := slo.Parse(test.text)
		require.NoError(t, err, test.text)
		require.Len(t, goals, 1)
		g := goals[0]
		require.Equal(t, test.metric, g.Metric, test.text)
		require.Equal(t, test.op, g.Op, test.text)
		require.InDelta(t, test.limit, g.Limit, 1e-9, test.text)
		require.Equal(t, test.unit, g.Unit, test.text)
	}
	goals, err := slo.Parse("p99<5ms, p99.9<20ms,error<0.1%,rate>=4900,allocs<1")
	require.NoError(t, err)
	require.Len(t, goals, 5)
	for _, text := range []string{"", ",", "p99<5ms,", "p99", "<5ms", "p99=5ms", "p99==5ms", "p101<1ms", "p<1ms", "q99<1ms", "p99<5", "p99<-1ms",
		"p99<5%", "error<x", "error<0.1%%", "rate>=5ms", "allocs<1%", "rate>-1", "service.error<1", "service.cpu<1ms", "p99<", "rate>=inf", "gc<nan", "error<0.1", "late<0.5"} {
		_, err := slo.Parse(text)
		require.Error(t, err, text)
	}
}

func TestJudge(t *testing.T) {
	values := map[string]float64{"p99": 5e6, "error": 0.002, "rate": 4900, "allocs": math.NaN()}
	measure := func(g slo.Goal) (float64, bool) { v, ok := values[g.Metric]; return v, ok }
	for text, want := range map[string]string{
		"p99<5ms":    "false 5ms",
		"p99<=5ms":   "true 5ms",
		"p99>5ms":    "false 5ms",
		"p99>=5ms":   "true 5ms",
		"error<0.1%": "false 0.2%",
		"rate>=4900": "true 4900.0/s",
		"allocs<1":   "false not measured",
		"cpu<1s":     "false not measured",
	} {
		goals, err := slo.Parse(text)
		require.NoError(t, err)
		v := slo.Judge(goals, measure)
		require.Equal(t, want, fmt.Sprint(v[0].Pass, " ", v[0].Value()), text)
		require.Equal(t, v[0].Pass, slo.AllPass(v))
	}
	require.True(t, slo.AllPass(nil))
}

func TestRound(t *testing.T) {
	for in, want := range map[time.Duration]string{0: "0s", 999: "999ns", 123_456: "123µs", 1_234_567: "1.23ms", 59_999_999_999: "1m0s", 12_345_678_901: "12.3s"} {
		require.Equal(t, want, slo.Round(in).String())
	}
}

func Example() {
	goals, _ := slo.Parse("p99<5ms,error<0.1%")
	measured := map[string]float64{"p99": 4.2e6, "error": 0.01}
	for _, v := range slo.Judge(goals, func(g slo.Goal) (float64, bool) { return measured[g.Metric], true }) {
		fmt.Println(v.Text, v.Value(), v.Pass)
	}
	// Output:
	// p99<5ms 4.2ms true
	// error<0.1% 1% false
}
