package page_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// sample is a made-up run of an open loop: seconds intervals after a warm-up, each
// with calls of a log-normal latency around typical, and a stall in the middle.
type sample struct {
	seconds, calls int
	typical        time.Duration
	seed           uint64
	errors         bool
	bare           bool // keeps no histograms by interval
}

// rows are its intervals, with their histograms unless it is bare.
func (s sample) rows() ([]tally.Row, tally.Total) {
	random := rand.New(rand.NewPCG(s.seed, 1))
	y := tally.New(1)
	if !s.bare {
		y.KeepHistograms()
	}
	var rows []tally.Row
	var g tally.Gauges
	for i := range s.seconds + 1 {
		from := time.Duration(max(float64(i)-0.5, 0) * float64(time.Second))
		for n := range s.calls {
			due := from + time.Duration(n)*time.Second/time.Duration(s.calls)
			took := time.Duration(float64(s.typical) * math.Exp(0.5*random.NormFloat64()))
			wait := time.Duration(0)
			if i == s.seconds/2 {
				wait = time.Duration(s.calls-n) * time.Second / time.Duration(2*s.calls)
			}
			x := tally.Sample{Planned: due, Sent: due + wait, Done: due + wait + took, Warm: i == 0}
			if s.errors && n%97 == 0 {
				x.Kind = tally.Kind(1 + n/97%2)
			}
			y.Shard(0).Record(x)
		}
		g.Sent += int64(s.calls)
		g.InFlight = 3 + i%5
		if s.errors && i == s.seconds/2 {
			g.Behind += int64(s.calls / 2)
			g.InFlight = 60
		}
		rows = append(rows, y.Rotate(from+time.Second/time.Duration(1+max(0, 1-i)), g, i == 0))
	}
	return rows, y.Total()
}

// document is the sample as a finished run.
func (s sample) document(t testing.TB) *report.Document {
	t.Helper()
	rows, total := s.rows()
	cpu := 1234.0
	d := &report.Document{
		Schema: report.Schema, Began: "2026-11-30T12:00:00Z",
		Tool: report.Tool{Name: "correlator loadgen", Version: "v1.2.3", Go: "go1.26.8", OS: "linux", Arch: "amd64", CPU: "Some CPU @ 3 GHz", CPUs: 2, GOMAXPROCS: 2},
		Config: report.Config{
			Args: []string{"-rate", "2k", "-slo", "p99<5ms,error<1%"}, Target: "unix:/run/echo.sock", Loop: "open", Schedule: "20s:2000/s", Mode: "batch", InFlight: 1024,
			Warmup: 0.5, Duration: float64(s.seconds), Timeout: int64(10 * time.Second), End: "wait", Framing: "line", Connections: 1, Method: "echo", Payload: "with 100 B of params", Seed: 1,
		},
		Rates:    report.Rates{Seconds: float64(s.seconds), Elapsed: float64(s.seconds) + 0.5, Answered: float64(s.calls), Offered: float64(s.calls), Asked: float64(s.calls)},
		Cost:     report.Cost{Calls: total.Measured.Sum(), CPU: &cpu, Allocs: 0.02, Heap: 3.5, BytesOut: 151, BytesIn: 148, Writes: 0.07, GC: 3},
		Steering: drive.Steering{Factor: 1},
		SLO:      []report.SLO{{Goal: "p99<5ms", Text: "4.1ms", Pass: true}, {Goal: "error<1%", Text: "1.04%", Pass: false}},
		Notes:    []string{"behind: 1,000 of 40,000 calls (2.5%) were sent more than 1ms late for want of room"},
		Exit:     3,
	}
	d.Counts = report.Counts{Sent: total.Measured.Sum() + total.Warm.Sum(), Measured: total.Measured, Ends: total.Measured.Add(total.Warm), Behind: 1000}
	var err error
	d.Latency.Response, err = distribution(total.Response)
	require.NoError(t, err)
	d.Latency.Service, err = distribution(total.Service)
	require.NoError(t, err)
	for _, row := range rows {
		i := report.Interval{Row: row, Response: report.Distribution{Summary: row.Response}, Service: report.Distribution{Summary: row.Service}}
		if row.Kept.Response != nil {
			text, err := row.Kept.Response.EncodeV2()
			require.NoError(t, err)
			i.Response.Histogram = string(text)
			text, err = row.Kept.Service.EncodeV2()
			require.NoError(t, err)
			i.Service.Histogram = string(text)
		}
		d.Intervals = append(d.Intervals, i)
	}
	return d
}

func distribution(h *hdr.Histogram) (report.Distribution, error) {
	text, err := h.EncodeV2()
	return report.Distribution{Summary: tally.Summarize(h), Histogram: string(text)}, err
}
