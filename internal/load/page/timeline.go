package page

import (
	"fmt"
	"math"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// pointsMost bounds a timeline: when it has that many points, neighbours are
// joined and half as many are left. So a page of a day is as large as one of eight
// minutes, and a live page never grows.
const pointsMost = 480

// restShare is the part of an interval's length below which the next one belongs to
// it.
const restShare = 0.1

// point is one or several intervals in a row.
type point struct {
	start, length float64 // seconds since the beginning of the run
	warm          bool
	sent, behind  int64
	dropped       int64
	inFlight      int // the most at the end of any of its intervals
	ends          tally.Ends
	// response is the figures of its calls; those of joined intervals without
	// histograms are the worst of them.
	response tally.Summary
	kept     tally.Histograms // both nil, or both the point's own
}

func (p *point) end() float64    { return p.start + p.length }
func (p *point) middle() float64 { return p.start + p.length/2 }

func (p *point) rate() float64     { return float64(p.ends.OK+p.ends.Error) / p.length }
func (p *point) sentRate() float64 { return float64(p.sent) / p.length }

// failed is the calls that did not end well.
func (p *point) failed() int64 { return p.ends.Sum() - p.ends.OK }

// join adds a later interval.
func (p *point) join(o *point) {
	p.length = o.end() - p.start
	p.sent += o.sent
	p.behind += o.behind
	p.dropped += o.dropped
	p.inFlight = max(p.inFlight, o.inFlight)
	p.ends = p.ends.Add(o.ends)
	if p.kept.Response != nil && o.kept.Response != nil {
		p.kept.Response.Merge(o.kept.Response) // same buckets: nothing is dropped
		p.kept.Service.Merge(o.kept.Service)
		p.response = figuresOf(p.kept.Response)
		return
	}
	p.kept = tally.Histograms{} // half a histogram would mislead
	a, b := &p.response, &o.response
	a.Count += b.Count
	a.P50, a.P99, a.P999, a.Max = max(a.P50, b.P50), max(a.P99, b.P99), max(a.P999, b.P999), max(a.Max, b.Max)
}

// figuresOf reads what the charts show.
func figuresOf(h *hdr.PackedHistogram) tally.Summary {
	if h.TotalCount() == 0 {
		return tally.Summary{}
	}
	v := h.ValueAtPercentilesSlice([]float64{50, 99, 99.9})
	return tally.Summary{Count: h.TotalCount(), P50: v[0], P99: v[1], P999: v[2], Max: h.Max()}
}

// timeline is a run second by second, coarser where it is long.
type timeline struct {
	points []point
	group  int // intervals in a point
	filled int // intervals in the last point
}

// add appends an interval. It keeps none of the histograms that it is given.
func (t *timeline) add(row *tally.Row) {
	p := point{
		start: row.Start, length: row.Length, warm: row.Warm, sent: row.Sent, behind: row.Behind, dropped: row.Dropped,
		inFlight: row.InFlight, ends: row.Ends, response: row.Response,
	}
	if !(p.length > 0) || math.IsInf(p.end(), 0) || math.IsNaN(p.start) || p.start < 0 {
		return // no time passed: nothing to draw it over
	}
	if row.Kept.Response != nil && row.Kept.Service != nil {
		p.kept = tally.Histograms{Response: row.Kept.Response.Clone(), Service: row.Kept.Service.Clone()}
	}
	t.group = max(t.group, 1)
	if n := len(t.points); n > 0 && t.points[n-1].warm == p.warm {
		last := &t.points[n-1]
		// What is left of a second at the end of a run would have a rate like a
		// spike, made of a few calls.
		if t.filled < t.group || p.length < restShare*last.length {
			last.join(&p)
			t.filled++
			return
		}
	}
	t.points = append(t.points, p)
	t.filled = 1
	if len(t.points) > pointsMost {
		t.halve()
	}
}

// halve joins each point with the next, the warm-up apart.
func (t *timeline) halve() {
	kept := t.points[:0]
	for i := 0; i < len(t.points); i++ {
		p := t.points[i]
		if i+1 < len(t.points) && t.points[i+1].warm == p.warm {
			i++
			p.join(&t.points[i])
		}
		kept = append(kept, p)
	}
	clear(t.points[len(kept):])
	t.points = kept
	t.group *= 2
	t.filled = t.group // the next interval begins a point
}

// end is when the last point ends.
func (t *timeline) end() float64 {
	if len(t.points) == 0 {
		return 0
	}
	return t.points[len(t.points)-1].end()
}

// warm is when the warm-up ended.
func (t *timeline) warm() float64 {
	end := 0.0
	for i := range t.points {
		if t.points[i].warm {
			end = t.points[i].end()
		}
	}
	return end
}

// rowOf reads an interval of a document.
func rowOf(i *report.Interval) (tally.Row, error) {
	row := i.Row
	row.Response, row.Service = i.Response.Summary, i.Service.Summary
	if i.Response.Histogram == "" || i.Service.Histogram == "" {
		return row, nil
	}
	var err error
	if row.Kept.Response, err = hdr.DecodePacked([]byte(i.Response.Histogram)); err != nil {
		return row, fmt.Errorf("response times: %w", err)
	}
	if row.Kept.Service, err = hdr.DecodePacked([]byte(i.Service.Histogram)); err != nil {
		return row, fmt.Errorf("service times: %w", err)
	}
	return row, nil
}
