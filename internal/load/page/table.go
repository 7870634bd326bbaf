package page

import (
	"fmt"
	"strings"
	"time"

	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// tile is one of the large figures at the top.
type tile struct {
	Name  string
	Value figure
	Note  string
	Class string // "bad" where it should catch the eye
}

// table is rows of figures under columns, with a name before each row.
type table struct {
	Title, Note string
	Columns     []string
	Rows        []line
	Wide        bool // takes the whole width
	Many        bool // has so many columns that it may have to scroll
}

// Units reports whether any figure has a unit: then each has room for one, so that
// those without stand under the others.
func (t table) Units() bool {
	for _, l := range t.Rows {
		for _, c := range l.Cells {
			if c.Unit != "" {
				return true
			}
		}
	}
	return false
}

type line struct {
	Name    string
	Cells   []figure
	Verdict string // "" for none
	Class   string // of the verdict: "good" or "bad"
}

// setting is a line of what was asked for.
type setting struct {
	Name, Value string
	Code        bool // in the type of programs
}

// tiles is the figures that a reader looks for first.
func tiles(r *run) []tile {
	d := r.doc
	l := &d.Latency.Response.Summary
	errors := d.Counts.Measured.Sum() - d.Counts.Measured.OK
	if d.Counts.Cut { // the generator gave them up: no peer failed them
		errors -= d.Counts.Measured.Cancelled
	}
	out := []tile{{Name: "answered", Value: perSecond(d.Rates.Answered), Note: report.Counted(d.Counts.Measured.Sum(), "call") + " in " + length(d.Rates.Seconds)}}
	if d.Config.Loop == "open" {
		out[0].Note = "asked " + perSecond(d.Rates.Asked).String() + ", offered " + perSecond(d.Rates.Offered).String()
	}
	for _, p := range []struct {
		name string
		v    int64
		note string
	}{
		{"p50", l.P50, "half took at most this"}, {"p99", l.P99, "1 of 100 took longer"},
		{"p99.9", l.P999, "1 of 1,000 took longer"}, {"slowest", l.Max, "response time"},
	} {
		t := tile{Name: p.name, Value: latency(float64(p.v)), Note: p.note}
		if l.Count == 0 {
			t.Value = absent
		}
		out = append(out, t)
	}
	e := tile{Name: "errors", Value: share(errors, d.Counts.Measured.Sum()), Note: report.Counted(errors, "call")}
	if errors > 0 {
		e.Class = "bad"
	}
	out = append(out, e)
	if d.Running {
		return append(out, tile{Name: "in flight", Value: count(d.Counts.InFlight), Note: "now"})
	}
	cpu := tile{Name: "CPU", Value: absent, Note: "a call; not measured"}
	if d.Cost.CPU != nil && d.Cost.Calls > 0 {
		cpu.Value, cpu.Note = latency(*d.Cost.CPU), "a call"
		if d.Config.InProcess {
			cpu.Note = "a call, client and echo"
		}
	}
	return append(out, cpu)
}

// percentiles is the figures of the chart of the same name.
func percentiles(runs []*run) table {
	t := table{Title: "Latency", Note: "Response time runs from when a call was due, service time from when it was sent."}
	var of []*tally.Summary
	for _, r := range runs {
		for _, l := range []struct {
			name string
			s    *tally.Summary
		}{{"response", &r.doc.Latency.Response.Summary}, {"service", &r.doc.Latency.Service.Summary}} {
			name := l.name
			if len(runs) > 1 {
				name = r.name + ", " + name
			}
			t.Columns, of = append(t.Columns, name), append(of, l.s)
		}
	}
	for _, p := range []struct {
		name string
		v    func(*tally.Summary) int64
	}{
		{"least", func(s *tally.Summary) int64 { return s.Min }}, {"mean", func(s *tally.Summary) int64 { return s.Mean }},
		{"p50", func(s *tally.Summary) int64 { return s.P50 }}, {"p90", func(s *tally.Summary) int64 { return s.P90 }},
		{"p95", func(s *tally.Summary) int64 { return s.P95 }}, {"p99", func(s *tally.Summary) int64 { return s.P99 }},
		{"p99.9", func(s *tally.Summary) int64 { return s.P999 }}, {"p99.99", func(s *tally.Summary) int64 { return s.P9999 }},
		{"p99.999", func(s *tally.Summary) int64 { return s.P99999 }}, {"slowest", func(s *tally.Summary) int64 { return s.Max }},
	} {
		l := line{Name: p.name}
		for _, s := range of {
			f := absent
			if s.Count > 0 {
				f = latency(float64(p.v(s)))
			}
			l.Cells = append(l.Cells, f)
		}
		t.Rows = append(t.Rows, l)
	}
	return t
}

// comparison is the figures of two runs and how the second differs.
func comparison(a, b *run) table {
	t := table{
		Title: "Compared", Columns: []string{a.name, b.name, "difference"},
		Note: "The difference is in percent of the first. Whether it is more than noise takes repetitions: loadgen compare judges that.",
	}
	add := func(name string, of func(*run) (float64, bool), print func(float64) figure) {
		x, okX := of(a)
		y, okY := of(b)
		l := line{Name: name, Cells: []figure{absent, absent, absent}}
		if okX {
			l.Cells[0] = print(x)
		}
		if okY {
			l.Cells[1] = print(y)
		}
		if okX && okY {
			l.Cells[2] = change(x, y)
		}
		t.Rows = append(t.Rows, l)
	}
	add("answered", func(r *run) (float64, bool) { return r.doc.Rates.Answered, true }, perSecond)
	for _, p := range []struct {
		name string
		v    func(*tally.Summary) int64
	}{
		{"p50", func(s *tally.Summary) int64 { return s.P50 }}, {"p99", func(s *tally.Summary) int64 { return s.P99 }},
		{"p99.9", func(s *tally.Summary) int64 { return s.P999 }}, {"slowest", func(s *tally.Summary) int64 { return s.Max }},
	} {
		add(p.name, func(r *run) (float64, bool) {
			s := &r.doc.Latency.Response.Summary
			return float64(p.v(s)), s.Count > 0
		}, latency)
	}
	add("errors", func(r *run) (float64, bool) {
		return float64(r.doc.Counts.Measured.Sum() - r.doc.Counts.Measured.OK), true
	}, whole0)
	add("CPU a call", func(r *run) (float64, bool) {
		if c := r.doc.Cost.CPU; c != nil && r.doc.Cost.Calls > 0 {
			return *c, true
		}
		return 0, false
	}, latency)
	add("allocations a call", func(r *run) (float64, bool) { return r.doc.Cost.Allocs, r.doc.Cost.Calls > 0 },
		func(v float64) figure { return figure{Num: small(v)} })
	return t
}

// accounting is where every call went.
func accounting(runs []*run) table {
	t := table{Title: "Accounting", Note: "Sent = ok + error + timeout + cancelled + lost, the warm-up included."}
	for _, row := range []struct {
		name string
		of   func(*run) int64
	}{
		{"sent", func(r *run) int64 { return r.doc.Counts.Sent }},
		{"ok", func(r *run) int64 { return r.doc.Counts.Ends.OK }},
		{"error", func(r *run) int64 { return r.doc.Counts.Ends.Error }},
		{"timeout", func(r *run) int64 { return r.doc.Counts.Ends.Timeout }},
		{"cancelled", func(r *run) int64 { return r.doc.Counts.Ends.Cancelled }},
		{"lost", func(r *run) int64 { return r.doc.Counts.Ends.Lost }},
		{"late answers", func(r *run) int64 { return r.doc.Counts.Late }},
		{"duplicate answers", func(r *run) int64 { return r.doc.Counts.Duplicate }},
		{"unknown answers", func(r *run) int64 { return r.doc.Counts.Unknown }},
		{"progress", func(r *run) int64 { return r.doc.Counts.Progress }},
		{"sent behind", func(r *run) int64 { return r.doc.Counts.Behind }},
		{"dropped", func(r *run) int64 { return r.doc.Counts.Dropped }},
	} {
		l := line{Name: row.name}
		for _, r := range runs {
			l.Cells = append(l.Cells, count(row.of(r)))
		}
		t.Rows = append(t.Rows, l)
	}
	t.Columns = names(runs, "calls")
	return t
}

// costs is what the calls cost the generator's process.
func costs(runs []*run) table {
	t := table{Title: "Cost of a call", Note: "Of the generator's process over the measured time.", Columns: names(runs, "a call")}
	for _, row := range []struct {
		name string
		of   func(*run) figure
	}{
		{"CPU", func(r *run) figure {
			if r.doc.Cost.CPU == nil {
				return absent
			}
			return latency(*r.doc.Cost.CPU)
		}},
		{"allocations", func(r *run) figure { return figure{Num: small(r.doc.Cost.Allocs)} }},
		{"heap", func(r *run) figure { return figure{small(r.doc.Cost.Heap), "B"} }},
		{"bytes out", func(r *run) figure { return figure{small(r.doc.Cost.BytesOut), "B"} }},
		{"bytes in", func(r *run) figure { return figure{small(r.doc.Cost.BytesIn), "B"} }},
		{"write calls", func(r *run) figure { return figure{Num: small(r.doc.Cost.Writes)} }},
		{"collections in all", func(r *run) figure { return count(int64(r.doc.Cost.GC)) }},
	} {
		l := line{Name: row.name}
		for _, r := range runs {
			f := absent
			if r.doc.Cost.Calls > 0 {
				f = row.of(r)
			}
			l.Cells = append(l.Cells, f)
		}
		t.Rows = append(t.Rows, l)
	}
	return t
}

func names(runs []*run, alone string) []string {
	if len(runs) == 1 {
		return []string{alone}
	}
	var out []string
	for _, r := range runs {
		out = append(out, r.name)
	}
	return out
}

// settings is what was asked for and what measured it.
func settings(r *run) []setting {
	c, tool := &r.doc.Config, &r.doc.Tool
	var out []setting
	add := func(name, value string, code bool) {
		if value != "" {
			out = append(out, setting{name, value, code})
		}
	}
	add("command", commandLine(c.Args), true)
	add("target", c.Target, true)
	add("method", c.Method, true)
	add("payload", c.Payload, false)
	if c.MCP != "" {
		add("MCP", strings.TrimSpace(c.MCP+", "+c.Peer), false)
	}
	add("faults of the echo", c.Faults, false)
	add("load", loadText(r), false)
	add("duration", durationText(r), false)
	add("timeout", timeoutText(c.Timeout), false)
	add("at the end", map[string]string{"wait": "calls in flight are waited for", "cut": "calls in flight are cut"}[c.End], false)
	if c.Connections > 1 {
		add("connections", report.Grouped(int64(c.Connections)), false)
	}
	add("framing", c.Framing, false)
	add("seed", fmt.Sprint(c.Seed), false)
	add("began", began(r.doc.Began), false)
	add("program", strings.TrimSpace(tool.Name+" "+tool.Version+", "+tool.Go), false)
	machine := fmt.Sprintf("%s/%s, %d processors, GOMAXPROCS %d", tool.OS, tool.Arch, tool.CPUs, tool.GOMAXPROCS)
	if tool.CPU != "" {
		machine = tool.CPU + "; " + machine
	}
	add("machine", machine, false)
	return out
}

func loadText(r *run) string {
	c := &r.doc.Config
	mode := map[string]string{"batch": "callbacks, submitted in batches", "callback": "callbacks", "blocking": "a goroutine a caller"}[c.Mode]
	text := "closed loop of " + report.Grouped(int64(c.InFlight)) + " callers"
	if c.Loop == "open" {
		text = "open loop, " + c.Schedule + ", at most " + report.Grouped(int64(c.InFlight)) + " in flight"
		if c.Drop {
			text += ", dropping what exceeds it"
		}
	}
	if mode != "" {
		text += "; " + mode
	}
	return text
}

func durationText(r *run) string {
	c := &r.doc.Config
	text := length(c.Duration)
	if c.Requests > 0 {
		text = report.Counted(c.Requests, "request")
	}
	if c.Warmup > 0 {
		text += " after " + length(c.Warmup) + " of warm-up"
	}
	return text
}

func timeoutText(ns int64) string {
	if ns <= 0 {
		return "none"
	}
	return roundLatency(float64(ns))
}

// began prints a time as people do, and as it stands where it is none.
func began(text string) string {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return t.Format("2 January 2006, 15:04:05 MST")
}

// commandLine is args as a shell reads them.
func commandLine(args []string) string {
	out := []string{"loadgen"}
	for _, a := range args {
		plain := a != "" && !strings.ContainsFunc(a, func(c rune) bool {
			return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_=+./:,@%", c))
		})
		if !plain {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out = append(out, a)
	}
	return strings.Join(out, " ")
}
