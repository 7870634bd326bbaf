package report_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/search"
	"github.com/correlator-go/correlator/internal/load/slo"
)

// probe is the open document with an answer at 2.9 ms, as a run at rate.
func probe(t *testing.T, rate, offered float64, goal string) *report.Document {
	t.Helper()
	c, r, server := open()
	r.Offered, r.Dropped, r.Planned = offered, 0, 2003
	r.Behind, r.Held, r.MeasuredPlanned = 30, 20, int64(rate)
	d, err := report.Build(c, r, server, goals(t, goal), nil)
	require.NoError(t, err)
	return d
}

// searched is a search that found 1,000/s.
func searched(t *testing.T) *report.Search {
	t.Helper()
	c, _, _ := open()
	s := report.NewSearch(c, "p99<5ms")
	f := search.New(1000, 0, 2)
	for rate, more := f.Next(); more; rate, more = f.Next() {
		goal := "p99<5ms"
		if rate > 1000 {
			goal = "p99<1ms"
		}
		p := s.Add(rate, probe(t, rate, rate, goal), f.Repeating(), f.Confirming())
		f.Record(p.Holds)
	}
	s.Answer(f)
	return s
}

func TestSearchAnswers(t *testing.T) {
	s := searched(t)
	require.Zero(t, s.Exit)
	require.Equal(t, 1000.0, *s.Rate)
	require.Equal(t, 2000.0, *s.Above)
	require.Equal(t, "1,000/s is the highest rate that holds p99<5ms: 2,000/s does not", s.Verdict)
	require.Len(t, s.Probes, 4, "held, failed, failed again, held once more")
	var out bytes.Buffer
	require.NoError(t, s.Heading(&out))
	for i := range s.Probes {
		require.NoError(t, s.Probes[i].Text(&out, report.Style{}))
	}
	require.NoError(t, s.Text(&out, report.Style{}))
	require.Contains(t, out.String(), "open loop; at most 64 in flight")
	require.Contains(t, out.String(), "2,000/s   p50 p99 p99.9     2.5ms    2.99ms        1s   fails: p99<1ms is 2.99ms (again)\n")
	require.Contains(t, out.String(), "holds (once more)\nanswer       1,000/s is the highest")
}

func TestSearchWithoutAnswer(t *testing.T) {
	c, _, _ := open()
	s, f := report.NewSearch(c, "p99<5ms"), search.New(10, 10, 0)
	for range 2 {
		f.Record(s.Add(10, probe(t, 10, 10, "p99<1ms"), f.Repeating(), false).Holds)
	}
	s.Answer(f)
	require.Equal(t, 3, s.Exit)
	require.Nil(t, s.Rate)
	require.Equal(t, "no rate holds p99<5ms: 10.0/s does not", s.Verdict)

	s, f = report.NewSearch(c, "p99<5ms"), search.New(10, 10, 0)
	d := probe(t, 10, 10, "p99<5ms")
	f.Record(s.Add(10, d, false, false).Holds)
	d.Problems = []string{"a contradiction"}
	s.Fail(d)
	s.Answer(f)
	require.Equal(t, 1, s.Exit)
	require.Contains(t, s.Verdict, "until then 10.0/s held")
	require.Contains(t, s.Error, "a contradiction")
}

// A rate that was not sent does not hold, whatever the latencies.
func TestSearchWantsTheRateSent(t *testing.T) {
	c, _, _ := open()
	s := report.NewSearch(c, "p99<5ms")
	require.True(t, s.Add(1003, probe(t, 1003, 1000, "p99<5ms"), false, false).Holds)
	p := s.Add(1003, probe(t, 1003, 900, "p99<5ms"), false, false)
	require.False(t, p.Holds)
	require.Equal(t, "only 900/s were sent", p.Why)
	require.False(t, p.Generator)
}

func TestMeasureUnknown(t *testing.T) {
	d := documents(t)["open"]
	for _, g := range []slo.Goal{{Metric: "speed"}, {Metric: "q5", Unit: slo.Duration}, {Metric: "speed", Unit: slo.Share}} {
		_, known := d.Measure(g)
		require.False(t, known)
	}
}
