package report

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/slo"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// Build makes the document of a run. server is the echo server's counters, nil if
// unknown; failure is why the run ended early, nil if it did not. Goals are
// judged, and the exit code set: 1 when the run failed or does not add up, 3
// when only a goal was missed, 0 else.
func Build(c Config, r *drive.Result, server *echo.Counts, goals []slo.Goal, failure error) (*Document, error) {
	d := &Document{
		Schema: Schema, Tool: thisTool(), Began: r.Began.Format(time.RFC3339), Config: c,
		Counts: Counts{
			Planned: r.Planned, Sent: r.Sent, Dropped: r.Dropped, Behind: r.Behind, Held: r.Held, Unsent: r.Unsent,
			Ends: r.Ends(), Measured: r.Total.Measured,
			Late: int64(r.Stats.Calls.Late), Duplicate: int64(r.Stats.Calls.Duplicate), Unknown: int64(r.Stats.Calls.Unknown),
			Progress: r.Received(), AtFinish: r.AtFinish, InFlight: r.InFlight, Cut: r.Cut,
		},
		Rates: Rates{
			Seconds: r.Sending.Seconds(), Elapsed: r.Elapsed.Seconds(), Paused: r.Paused.Seconds(),
			Answered: r.Rate, Offered: r.Offered, Asked: r.Asked(),
		},
		Events: append([]drive.Event{}, r.Events...), Steering: r.Steering,
		Cost:      costOf(r.Cost),
		Intervals: make([]Interval, 0, len(r.Rows)), Server: server,
		Notes: []string{}, SLO: []SLO{},
		Problems: append([]string{}, drive.Audit(r, server, failure != nil)...),
	}
	var err error
	if d.Latency.Response, err = distribution(r.Total.Response); err != nil {
		return nil, err
	}
	if d.Latency.Service, err = distribution(r.Total.Service); err != nil {
		return nil, err
	}
	d.parts(r)
	for _, row := range r.Rows {
		i, err := interval(row)
		if err != nil {
			return nil, err
		}
		d.Intervals = append(d.Intervals, i)
	}
	if failure != nil {
		d.Error = failure.Error()
	}
	d.response, d.service = r.Total.Response, r.Total.Service
	verdicts := slo.Judge(goals, d.Measure)
	for _, v := range verdicts {
		s := SLO{Goal: v.Text, Text: v.Value(), Pass: v.Pass}
		if v.Known {
			s.Measured = &v.Measured
		}
		d.SLO = append(d.SLO, s)
	}
	d.note(r)
	switch {
	case d.Error != "" || len(d.Problems) > 0 || r.Interrupted:
		d.Exit = 1
	case !slo.AllPass(verdicts):
		d.Exit = 3
	}
	return d, nil
}

// WantAnswer fails a run in which calls were sent and none was answered, not even
// with an error: whatever the figures say, they are not of a peer that speaks the
// protocol.
func (d *Document) WantAnswer() {
	n := &d.Counts
	if n.Sent == 0 || n.Ends.OK+n.Ends.Error > 0 || d.Error != "" {
		return
	}
	var ends []string
	for _, end := range []struct {
		name  string
		calls int64
	}{{"timeout", n.Ends.Timeout}, {"cancelled", n.Ends.Cancelled}, {"lost", n.Ends.Lost}} {
		if end.calls > 0 {
			ends = append(ends, end.name+" "+Grouped(end.calls))
		}
	}
	d.Error = "no call was answered: " + strings.Join(ends, ", ")
	d.Exit = 1
}

func distribution(h *hdr.Histogram) (Distribution, error) {
	encoded, err := encode(h)
	return Distribution{tally.Summarize(h), encoded}, err
}

func interval(row tally.Row) (Interval, error) {
	i := Interval{Row: row, Response: Distribution{Summary: row.Response}, Service: Distribution{Summary: row.Service}}
	if row.Kept.Response == nil {
		return i, nil
	}
	var err error
	if i.Response.Histogram, err = encode(row.Kept.Response); err != nil {
		return i, err
	}
	i.Service.Histogram, err = encode(row.Kept.Service)
	return i, err
}

// encode is the text form of a histogram: V2, compressed, base64.
func encode(h interface{ EncodeV2() ([]byte, error) }) (string, error) {
	text, err := h.EncodeV2()
	if err != nil {
		return "", fmt.Errorf("encoding a histogram: %w", err)
	}
	return string(text), nil
}

func costOf(c drive.Cost) Cost {
	out := Cost{
		Calls: c.Calls, Allocs: c.PerCall(float64(c.Allocs)), Heap: c.PerCall(float64(c.Heap)), GC: c.GC,
		BytesOut: c.PerCall(float64(c.BytesOut)), BytesIn: c.PerCall(float64(c.BytesIn)), Writes: c.PerCall(float64(c.Writes)),
	}
	if c.CPUKnown && c.Calls > 0 {
		cpu, busy := c.PerCall(float64(c.CPU)), c.Busy()
		out.CPU, out.Busy = &cpu, &busy
	}
	return out
}

func thisTool() Tool {
	t := Tool{
		Name: "correlator loadgen", Version: "unknown", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		CPU: cpuName(), CPUs: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0),
	}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		t.Version = b.Main.Version
	}
	return t
}

// cpuName is the processor as Linux calls it, "" elsewhere.
func cpuName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, " \t:"))
		}
	}
	return ""
}
