package page

import (
	"fmt"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// Run is a finished run to show. It is only read.
type Run struct {
	// Name is what charts and tables call it where two are compared.
	Name string
	Doc  *report.Document
}

// run is what the charts of one run are drawn from.
type run struct {
	name  string
	class string // of its colours: "a", or "b" for the second of two
	doc   *report.Document
	line  timeline
	// response and service are the whole run, nil where nothing was measured.
	response, service *hdr.Histogram
}

// read decodes a document, which may be somebody else's file.
func read(in Run, class string) (*run, error) {
	r := &run{name: in.Name, class: class, doc: in.Doc}
	var err error
	if r.response, err = whole(&in.Doc.Latency.Response); err != nil {
		return nil, fmt.Errorf("%s: latency.response: %w", in.Name, err)
	}
	if r.service, err = whole(&in.Doc.Latency.Service); err != nil {
		return nil, fmt.Errorf("%s: latency.service: %w", in.Name, err)
	}
	for i := range in.Doc.Intervals {
		row, err := rowOf(&in.Doc.Intervals[i])
		if err != nil {
			return nil, fmt.Errorf("%s: interval %d: %w", in.Name, i, err)
		}
		r.line.add(&row)
	}
	return r, nil
}

func whole(d *report.Distribution) (*hdr.Histogram, error) {
	if d.Count == 0 {
		return nil, nil
	}
	h, err := d.Decode()
	if err != nil || h.TotalCount() == 0 {
		return nil, err
	}
	return h, nil
}

// follow adds rows to a run that goes on.
func (r *run) follow(rows []tally.Row) {
	for i := range rows {
		row := &rows[i]
		r.line.add(row)
		if row.Kept.Response == nil || row.Kept.Response.TotalCount() == 0 {
			continue
		}
		if r.response == nil {
			r.response, r.service = tally.NewHistogram(), tally.NewHistogram()
		}
		row.Kept.Response.MergeInto(r.response)
		row.Kept.Service.MergeInto(r.service)
	}
}

// heated reports whether the seconds kept their histograms.
func (r *run) heated() bool {
	for i := range r.line.points {
		if k := r.line.points[i].kept.Response; k != nil && k.TotalCount() > 0 {
			return true
		}
	}
	return false
}
