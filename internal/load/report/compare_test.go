package report_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// runOf is a run of ten seconds whose latencies are spread around mean, read back
// from what it wrote.
func runOf(t *testing.T, seed uint64, mean time.Duration) *report.Document {
	t.Helper()
	c, r, _ := open()
	c.Warmup, c.Duration = 0, 10
	y := tally.New(1)
	y.KeepHistograms()
	random := rand.New(rand.NewPCG(seed, 1))
	r.Rows = nil
	for second := range 10 {
		for range 200 {
			wait := time.Duration(float64(mean) * (0.5 + random.ExpFloat64()/2))
			y.Shard(0).Record(tally.Sample{Done: wait, Sent: wait / 3})
		}
		r.Rows = append(r.Rows, y.Rotate(time.Duration(second+1)*time.Second, tally.Gauges{Sent: int64(200 * (second + 1))}, false))
	}
	r.Total, r.Warmup, r.Sending, r.Rate, r.Offered = y.Total(), 0, 10*time.Second, 200+random.Float64(), 200
	r.Planned, r.Sent, r.Dropped, r.Behind, r.Held, r.MeasuredPlanned, r.MeasuredSent = 2000, 2000, 0, 0, 0, 2000, 2000
	r.Stats.Calls.Registered, r.Stats.Calls.Resolved, r.Stats.Calls.Rejected, r.Stats.Calls.Expired, r.Stats.CancelsOut = 2000, 2000, 0, 0, 0
	d, err := report.Build(c, r, nil, nil, nil)
	require.NoError(t, err)
	require.Zero(t, d.Exit, d.Problems)
	var out bytes.Buffer
	require.NoError(t, d.Write(&out))
	back, err := report.Read(&out)
	require.NoError(t, err)
	return back
}

// compared compares n runs with n others that are slower by factor.
func compared(t *testing.T, n int, factor float64, limits ...report.Limit) *report.Comparison {
	t.Helper()
	var sides [2][]*report.Document
	var names [2][]string
	for i := range n {
		for side, f := range []float64{1, factor} {
			seed := uint64(2*i + side)
			sides[side] = append(sides[side], runOf(t, seed, time.Duration(float64(5*ms)*f)))
			names[side] = append(names[side], fmt.Sprintf("%c.%d.json", 'a'+side, i+1))
		}
	}
	c, err := report.Compare(sides[0], sides[1], names, limits)
	require.NoError(t, err)
	return c
}

func verdicts(c *report.Comparison) map[string]string {
	out := map[string]string{}
	for _, change := range c.Changes {
		out[change.Metric] = change.Verdict
	}
	return out
}

func TestCompareTellsChangeFromNoise(t *testing.T) {
	for _, n := range []int{5, 1} {
		limit := report.Limit{Metric: "p99", Worse: 0.05}
		same := compared(t, n, 1, limit)
		require.Zero(t, same.Exit)
		require.Equal(t, n == 1, same.Seconds)
		require.Equal(t, report.Within, verdicts(same)["p50"])
		require.Equal(t, report.Same, verdicts(same)["error"])

		slower := compared(t, n, 1.5, limit)
		require.Equal(t, 3, slower.Exit)
		for _, metric := range []string{"p50", "p90", "p99", "service.p50"} {
			require.Equal(t, report.Worse, verdicts(slower)[metric], metric)
		}
		require.Zero(t, compared(t, n, 1.5).Exit, "nothing was said about how much worse it may get")
		require.Zero(t, compared(t, n, 1.5, report.Limit{Metric: "p99", Worse: 1}).Exit)

		faster := compared(t, n, 0.5, limit)
		require.Zero(t, faster.Exit)
		require.Equal(t, report.Better, verdicts(faster)["p99"])
		for _, change := range faster.Changes {
			if change.Metric == "p50" {
				require.InDelta(t, 0.5, change.Ratio.Value, 0.05)
				require.LessOrEqual(t, *change.Ratio.Low, change.Ratio.Value)
				require.GreaterOrEqual(t, *change.Ratio.High, change.Ratio.Value)
			}
		}
	}
}

// With one run a side the figures are still those of the whole run.
func TestSecondsSumUpToTheRun(t *testing.T) {
	c := compared(t, 1, 1)
	run := runOf(t, 0, 5*ms)
	for _, change := range c.Changes {
		switch change.Metric {
		case "p50":
			require.InEpsilon(t, run.Latency.Response.P50, change.Before.Value, 0.002)
		case "p99.9":
			require.InEpsilon(t, run.Latency.Response.P999, change.Before.Value, 0.002)
		case "max":
			require.InEpsilon(t, run.Latency.Response.Max, change.Before.Value, 0.002)
		case "service.p99":
			require.InEpsilon(t, run.Latency.Service.P99, change.Before.Value, 0.002)
		case "rate":
			require.InEpsilon(t, 200, change.Before.Value, 0.01)
		case "allocs":
			require.Equal(t, report.Same, change.Verdict)
			require.Nil(t, change.Before.Low)
		}
	}
}

func TestComparisonText(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, compared(t, 5, 2, report.Limit{Metric: "p99", Worse: 0.05}, report.Limit{Metric: "p50", Worse: 5}).Text(&out, report.Style{}))
	require.Regexp(t, `before +5 runs \(a\.1\.json, .*\) of pipe:echo`, out.String())
	require.Regexp(t, `p99 +\S+ ±\S+ +\S+ ±\S+ +\+\d+\.\d% +\+\S+% to \+\S+% +REGRESSED by more than 5%\n`, out.String())
	require.Regexp(t, `p50 .* worse, and 500% are allowed\n`, out.String())
	require.NotContains(t, out.String(), "note")
	out.Reset()
	require.NoError(t, compared(t, 2, 1).Text(&out, report.Style{}))
	require.Contains(t, out.String(), "2 runs on a side: below 5 the intervals are too narrow")
}

func TestCompareRefuses(t *testing.T) {
	good, bad := runOf(t, 1, ms), documents(t)["dead"]
	names := [2][]string{{"good.json"}, {"bad.json"}}
	_, err := report.Compare([]*report.Document{good}, []*report.Document{bad}, names, nil)
	require.ErrorContains(t, err, "bad.json")
	_, err = report.Compare([]*report.Document{good}, nil, names, nil)
	require.Error(t, err)
	other := runOf(t, 2, ms)
	other.Config.InFlight, other.Tool.CPUs = 1, 99
	other.Cost.CPU = nil
	c, err := report.Compare([]*report.Document{good}, []*report.Document{other}, names, nil)
	require.NoError(t, err)
	require.Contains(t, c.Notes, "the runs were not asked alike: inFlight differ")
	require.Contains(t, c.Notes, "the runs were not measured alike: cpus differ")
	require.NotContains(t, verdicts(c), "cpu")
	_, err = report.Compare([]*report.Document{good}, []*report.Document{other}, names, []report.Limit{{Metric: "cpu"}})
	require.ErrorContains(t, err, "cpu was not measured")
	_, err = report.Compare([]*report.Document{good}, []*report.Document{good}, names, []report.Limit{{Metric: "speed"}})
	require.ErrorContains(t, err, "speed")
}

func TestParseLimits(t *testing.T) {
	got, err := report.ParseLimits("p99=5%, rate=2.5%,service.p99.9=0%,error=10%")
	require.NoError(t, err)
	require.Equal(t, []report.Limit{{"p99", 0.05}, {"rate", 0.025}, {"service.p99.9", 0}, {"error", 0.1}}, got)
	for _, text := range []string{"", "p99", "p99=5", "p99=%", "p99=x%", "p99=-1%", "speed=5%", "p99=5%,", "p99=inf%", "p99=5x%"} {
		_, err := report.ParseLimits(text)
		require.Error(t, err, text)
	}
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "not a run",
		`{"schema":"other"}`:                    `"other"`,
		`[1]`:                                   "not a run",
		`{"schema":"` + report.Schema + `"} {}`: "more than one run",
	} {
		_, err := report.Read(bytes.NewReader([]byte(text)))
		require.ErrorContains(t, err, want, text)
	}
}
