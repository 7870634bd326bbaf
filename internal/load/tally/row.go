package tally

import (
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Gauges is what the driver knows at the end of an interval: sums since the
// beginning of the run, warm-up included, and the calls in flight.
type Gauges struct {
	Sent, Behind, Dropped, Late int64
	InFlight                    int
}

// Row is one interval. Calls are in the interval in which they settled.
type Row struct {
	Start    float64 `json:"start"`   // seconds since the beginning of the run
	Length   float64 `json:"seconds"` // its length
	Warm     bool    `json:"warm"`    // part of the warm-up: calls sent in it are counted but not measured
	Sent     int64   `json:"sent"`
	Behind   int64   `json:"behind"`
	Dropped  int64   `json:"dropped"`
	Late     int64   `json:"late"`     // answers that came after their call had ended
	InFlight int     `json:"inFlight"` // at its end
	Ends     Ends    `json:"ends"`
	Response Summary `json:"response"`
	Service  Summary `json:"service"`
	// Kept is set only after [Tally.KeepHistograms].
	Kept Histograms `json:"-"`
}

// Rate is the number of calls settled per second with an answer.
func (r Row) Rate() float64 {
	if r.Length <= 0 {
		return 0
	}
	return float64(r.Ends.OK+r.Ends.Error) / r.Length
}

// Summary is the usual figures of a latency distribution, in nanoseconds. All
// are 0 when Count is.
type Summary struct {
	Count  int64 `json:"count"`
	Min    int64 `json:"minNs"`
	Mean   int64 `json:"meanNs"`
	P50    int64 `json:"p50Ns"`
	P90    int64 `json:"p90Ns"`
	P95    int64 `json:"p95Ns"`
	P99    int64 `json:"p99Ns"`
	P999   int64 `json:"p99.9Ns"`
	P9999  int64 `json:"p99.99Ns"`
	P99999 int64 `json:"p99.999Ns"`
	Max    int64 `json:"maxNs"`
	StdDev int64 `json:"stddevNs"`
}

// Summarize reads h.
func Summarize(h *hdr.Histogram) Summary {
	if h.TotalCount() == 0 {
		return Summary{}
	}
	v := h.ValueAtPercentilesSlice([]float64{50, 90, 95, 99, 99.9, 99.99, 99.999})
	return Summary{
		Count: h.TotalCount(), Min: h.Min(), Mean: int64(h.Mean()), StdDev: int64(h.StdDev()), Max: h.Max(),
		P50: v[0], P90: v[1], P95: v[2], P99: v[3], P999: v[4], P9999: v[5], P99999: v[6],
	}
}

// Rotate ends the interval at now. warm says that it lay in the warm-up.
func (t *Tally) Rotate(now time.Duration, g Gauges, warm bool) Row {
	for _, s := range t.shards {
		taken := s.take()
		t.interval.merge(taken)
		taken.reset()
	}
	row := Row{
		Start: t.at.Seconds(), Length: (now - t.at).Seconds(), Warm: warm,
		Sent: g.Sent - t.gauges.Sent, Behind: g.Behind - t.gauges.Behind, Dropped: g.Dropped - t.gauges.Dropped, Late: g.Late - t.gauges.Late, InFlight: g.InFlight,
		Ends:     endsOf(&t.interval.measured).Add(endsOf(&t.interval.warm)),
		Response: Summarize(t.interval.response), Service: Summarize(t.interval.service),
	}
	if t.packed != nil {
		row.Kept = Histograms{t.pack(t.interval.response), t.pack(t.interval.service)}
	}
	t.total.merge(t.interval)
	t.interval.reset()
	t.at, t.gauges = now, g
	return row
}

// Total is a whole run.
type Total struct {
	// Measured and Warm count the calls sent after and during the warm-up.
	Measured, Warm Ends
	// Response and Service are of the measured calls. They belong to the tally:
	// they change with its next Rotate.
	Response, Service *hdr.Histogram
}

// Total returns everything up to the last Rotate.
func (t *Tally) Total() Total {
	return Total{endsOf(&t.total.measured), endsOf(&t.total.warm), t.total.response, t.total.service}
}
