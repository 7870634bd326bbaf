package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/peer"
)

// column is one of a table: what it shows and how.
type column struct {
	title, name string
	format      func(float64) string
}

var (
	count   = func(v float64) string { return fmt.Sprintf("%.0f", v) }
	precise = func(v float64) string { return fmt.Sprintf("%.3g", v) }
	fine    = func(v float64) string { return fmt.Sprintf("%.3f", v) }
	mebi    = func(v float64) string { return fmt.Sprintf("%.2f", v/(1<<20)) }
)

var columns = []column{
	{"calls/s", load.Rate, count},
	{"p50", load.P50, span}, {"p99", load.P99, span}, {"p99.9", load.P999, span},
	{"CPU/call", load.CPU, span},
	{"allocs", load.Allocs, func(v float64) string { return fmt.Sprintf("%.1f", v) }},
	{"bytes", load.Bytes, count}, {"writes", load.WriteCall, fine}, {"errors", load.Errors, count},
}

// others are the columns of rows that are no load.
var others = map[Scenario][]column{
	Stuck:   {{"calls/s", load.Rate, count}, {"heap before MiB", HeapBefore, mebi}, {"after MiB", HeapAfter, mebi}, {"growth MiB", Growth, mebi}},
	Codec:   {{"ns", Time, precise}, {"allocs", load.Allocs, precise}},
	Table:   {{"ns", Time, precise}, {"allocs", load.Allocs, precise}, {"bytes", load.Bytes, count}},
	Loadgen: {{"calls/s", load.Rate, count}, {"CPU/call", load.CPU, span}},
	Servers: {{"calls/s", load.Rate, count}, {"p50", load.P50, span}, {"p99", load.P99, span}, {"CPU/call", load.CPU, span},
		{"allocs", load.Allocs, precise}, {"bytes", load.Bytes, count}},
	Expiry: {{"expired/s", load.Rate, count}, {"late p50", load.P50, span}, {"late p99", load.P99, span}, {"CPU/call", load.CPU, span},
		{"allocs", load.Allocs, precise}, {"writes", load.WriteCall, fine}},
}

// Columns of the other scenarios.
const (
	HeapBefore = "heap before" // bytes
	HeapAfter  = "heap after"
	Growth     = "growth"
	Time       = "ns" // of one operation
)

func span(ns float64) string {
	d := time.Duration(ns)
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3g ms", ns/1e6)
	case d >= time.Microsecond:
		return fmt.Sprintf("%.3g µs", ns/1e3)
	}
	return fmt.Sprintf("%.0f ns", ns)
}

// Text writes one row as a table, the fastest first, and then who could not do
// it.
func (r *Row) Text(w io.Writer) error {
	cols, ok := others[r.Scenario]
	if !ok {
		cols = columns
	}
	fmt.Fprintf(w, "\n%s\n", r.Title())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	titles := []string{"peer", "±"}
	for _, c := range cols {
		titles = append(titles, c.title)
	}
	fmt.Fprintln(t, strings.Join(titles, "\t")+"\t")
	for _, e := range r.Ranked(cols[0].name) {
		spread := "–"
		if len(e.Rounds) > 1 {
			spread = fmt.Sprintf("%.0f%%", 100*e.Spread(cols[0].name))
		}
		cells := []string{e.label(), spread}
		for _, c := range cols {
			v, ok := e.Median(c.name)
			if !ok {
				cells = append(cells, "–")
				continue
			}
			cells = append(cells, c.format(v))
		}
		fmt.Fprintln(t, strings.Join(cells, "\t")+"\t")
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, e := range r.Entries {
		if e.Failed != "" {
			if _, err := fmt.Fprintf(w, "  %s: %s\n", e.label(), e.Failed); err != nil {
				return err
			}
		}
	}
	return nil
}

// label marks what is ours and what is a floor.
func (e *Entry) label() string {
	switch e.Class {
	case peer.Ours, peer.Adapted:
		return "* " + e.Peer
	case peer.Floor:
		return "(" + e.Peer + ")"
	case peer.Other:
		return e.Peer + " °"
	}
	return e.Peer
}

// Ranked lists the entries that have figures, the best first.
func (r *Row) Ranked(by string) []*Entry {
	var out []*Entry
	for _, class := range []peer.Class{peer.Ours, peer.Adapted, peer.Floor, peer.JSON, peer.Other} {
		out = append(out, r.Of(class, by)...)
	}
	slices.SortStableFunc(out, better(by))
	return out
}

// Text writes the head and every row.
func (r *Report) Text(w io.Writer) error {
	fmt.Fprintf(w, "%s, %d CPUs, %s/%s, %s\n", r.Machine.CPU, r.Machine.CPUs, r.Machine.OS, r.Machine.Arch, r.Machine.Go)
	fmt.Fprintln(w, "* ours   ( ) floors, which carry no calls   ° other protocols   ± 95 % interval of the first column")
	for _, row := range r.Rows {
		if err := row.Text(w); err != nil {
			return err
		}
	}
	return nil
}
