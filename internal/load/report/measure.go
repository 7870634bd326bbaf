package report

import (
	"math"
	"strings"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/correlator-go/correlator/internal/load/slo"
)

// Measure is the figure that a goal is about, in the goal's unit, and false where
// it was not measured.
func (d *Document) Measure(g slo.Goal) (float64, bool) {
	switch {
	case g.Metric == "cpu":
		if d.Cost.CPU == nil {
			return 0, false
		}
		return *d.Cost.CPU, true
	case g.Unit == slo.Duration:
		return d.latency(g.Metric)
	}
	if v, known, ok := d.perCall(g.Metric); ok {
		return v, known
	}
	n, of := d.countOf(g.Metric)
	if g.Unit == slo.Share {
		n /= of // NaN, which fails, when there is nothing to share by
	}
	return n, of > 0
}

// perCall is a rate or a cost; ok is false for what is neither.
func (d *Document) perCall(metric string) (v float64, known, ok bool) {
	sending, calls := d.Rates.Seconds > 0, d.Cost.Calls > 0
	switch metric {
	case "rate":
		return d.Rates.Answered, sending, true
	case "offered":
		return d.Rates.Offered, sending, true
	case "allocs":
		return d.Cost.Allocs, calls, true
	case "heap":
		return d.Cost.Heap, calls, true
	case "bytes":
		return d.Cost.BytesOut + d.Cost.BytesIn, calls, true
	case "writes":
		return d.Cost.Writes, calls, true
	case "gc":
		return float64(d.Cost.GC), calls, true
	}
	return 0, false, false
}

// countOf is a number of calls, and what it is a share of; that is 0 for what is
// none.
func (d *Document) countOf(metric string) (n, of float64) {
	m := d.Counts.Measured
	// Calls cut at the end are counted apart: the generator gave them up, no peer
	// failed them.
	cancelled := m.Cancelled
	if d.Counts.Cut {
		cancelled = 0
	}
	sent, planned := float64(m.Sum()), float64(d.Counts.Planned)
	switch metric {
	case "error":
		return float64(m.Error + m.Timeout + cancelled + m.Lost), sent
	case "rejected":
		return float64(m.Error), sent
	case "timeout":
		return float64(m.Timeout), sent
	case "cancelled":
		return float64(cancelled), sent
	case "lost":
		return float64(m.Lost), sent
	case "late":
		return float64(d.Counts.Late), sent
	case "duplicate":
		return float64(d.Counts.Duplicate), sent
	case "unknown":
		return float64(d.Counts.Unknown), sent
	case "behind":
		return float64(d.Counts.Behind), planned
	case "dropped":
		return float64(d.Counts.Dropped), planned
	}
	return 0, 0
}

// latency is a figure of the response time, or of the service time under "service.".
func (d *Document) latency(metric string) (float64, bool) {
	name, service := strings.CutPrefix(metric, "service.")
	h, err := d.histogram(service)
	if err != nil || h.TotalCount() == 0 {
		return 0, false
	}
	switch name {
	case "min":
		return float64(h.Min()), true
	case "mean":
		return h.Mean(), true
	case "max":
		return float64(h.Max()), true
	}
	p := slo.Percentile(name)
	if p < 0 {
		return math.NaN(), false
	}
	return float64(h.ValueAtPercentile(p)), true
}

// histogram is the one that Build had, or the one that is in the text.
func (d *Document) histogram(service bool) (*hdr.Histogram, error) {
	kept, text := &d.response, &d.Latency.Response
	if service {
		kept, text = &d.service, &d.Latency.Service
	}
	if *kept == nil {
		h, err := text.Decode()
		if err != nil {
			return nil, err
		}
		*kept = h
	}
	return *kept, nil
}
