package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/correlator-go/correlator/internal/load/slo"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// Style colours a report.
type Style struct {
	Colour bool // ANSI colours; off for files and NO_COLOR
}

func (s Style) paint(code, text string) string {
	if !s.Colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s Style) good(text string) string { return s.paint("32", text) }
func (s Style) bad(text string) string  { return s.paint("31;1", text) }

// label is the width of the first column.
const label = 13

// printer keeps the first error, so that the text can be written line by line.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(name, format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, "%-*s%s\n", label, name, fmt.Sprintf(format, args...))
	}
}

// Heading writes the line that stands above a run.
func Heading(w io.Writer, c Config) error {
	p := &printer{w: w}
	parts := []string{c.Target}
	if c.Connections > 1 {
		parts = append(parts, Grouped(int64(c.Connections))+" connections")
	}
	switch c.Loop {
	case "open":
		parts = append(parts, "open loop "+c.Schedule, fmt.Sprintf("at most %s in flight", Grouped(int64(c.InFlight))))
	case "search":
		parts = append(parts, "open loop", fmt.Sprintf("at most %s in flight", Grouped(int64(c.InFlight))))
	default:
		parts = append(parts, fmt.Sprintf("closed loop, %s in flight", Grouped(int64(c.InFlight))))
	}
	parts = append(parts, map[string]string{
		"batch": "callbacks, submitted in batches", "callback": "callbacks", "blocking": "a goroutine a caller",
	}[c.Mode])
	if c.MCP != "" {
		parts = append(parts, strings.TrimSpace("MCP "+c.MCP+" "+c.Peer))
	}
	parts = append(parts, c.Method+" "+c.Payload)
	if c.Timeout > 0 {
		parts = append(parts, "timeout "+time.Duration(c.Timeout).String())
	} else {
		parts = append(parts, "no timeout")
	}
	if c.Faults != "" {
		parts = append(parts, "echo: "+c.Faults)
	}
	p.line("loadgen", "%s, seed %d", strings.Join(parts, "; "), c.Seed)
	return p.err
}

// Text writes the report for a person.
func (d *Document) Text(w io.Writer, style Style) error {
	p := &printer{w: w}
	d.rates(p)
	d.latencies(p)
	d.partTable(p)
	d.costs(p)
	d.accounting(p, style)
	for i, s := range d.SLO {
		verdict := style.good("pass")
		if !s.Pass {
			verdict = style.bad("FAIL")
		}
		p.line(only(i == 0, "slo"), "%-24s %-14s %s", s.Goal, s.Text, verdict)
	}
	for _, n := range d.Notes {
		p.line("note", "%s", n)
	}
	if d.Error != "" {
		p.line("error", "%s", style.bad(d.Error))
	}
	return p.err
}

func only(ok bool, text string) string {
	if ok {
		return text
	}
	return ""
}

func (d *Document) rates(p *printer) {
	r := d.Rates
	measured := d.Counts.Measured.Sum()
	answered := perSecond(r.Answered) + " calls/s answered"
	if r.Answered == 0 {
		answered = "no call was answered while calls were sent"
	}
	p.line("rate", "%s; %s in %v after %v of warm-up",
		answered, Counted(measured, "call"), short(r.Seconds), short(d.Config.Warmup))
	if d.Config.Loop == "open" {
		p.line("", "asked %s/s, offered %s/s; behind %s, dropped %s",
			perSecond(r.Asked), perSecond(r.Offered), share(d.Counts.Behind, d.Counts.Planned), share(d.Counts.Dropped, d.Counts.Planned))
	}
}

func short(seconds float64) time.Duration {
	return slo.Round(time.Duration(seconds * float64(time.Second)))
}

func (d *Document) latencies(p *printer) {
	const row = "%9s%9s%9s%9s%9s%9s%9s%9s"
	p.line("latency", row, "p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "max", "mean")
	for _, l := range []struct {
		name, from string
		tally.Summary
	}{
		{"  response", "from when a call was due", d.Latency.Response.Summary},
		{"  service", "from when it was sent", d.Latency.Service.Summary},
	} {
		if l.Count == 0 {
			p.line(l.name, "no call was answered")
			continue
		}
		p.line(l.name, row+"   %s", ns(l.P50), ns(l.P90), ns(l.P99), ns(l.P999), ns(l.P9999), ns(l.P99999), ns(l.Max), ns(l.Mean), l.from)
	}
}

func (d *Document) costs(p *printer) {
	c := d.Cost
	if c.Calls == 0 {
		p.line("cost a call", "no call was measured")
		return
	}
	cpu := "not measured"
	if c.CPU != nil {
		cpu = ns(int64(*c.CPU))
	}
	if d.Config.InProcess {
		cpu += " (client and echo)"
	}
	p.line("cost a call", "CPU %s; allocs %s, heap %s B; bytes %s out, %s in; write calls %s; GC cycles %d",
		cpu, small(c.Allocs), small(c.Heap), small(c.BytesOut), small(c.BytesIn), small(c.Writes), c.GC)
}

func (d *Document) accounting(p *printer, style Style) {
	n := d.Counts
	warm := n.Ends.Sum() - n.Measured.Sum()
	p.line("accounting", "sent %s = ok %s + error %s + timeout %s + cancelled %s + lost %s (warm-up %s)", Grouped(n.Sent),
		Grouped(n.Ends.OK), Grouped(n.Ends.Error), Grouped(n.Ends.Timeout), Grouped(n.Ends.Cancelled), Grouped(n.Ends.Lost), Grouped(warm))
	switch {
	case n.Cut:
		p.line("", "in flight when the sending was over %s, of which %s were cut: those are the cancelled ones", Grouped(n.AtFinish), Grouped(n.Ends.Cancelled))
	case n.AtFinish > 0:
		p.line("", "in flight when the sending was over %s: waited for", Grouped(n.AtFinish))
	}
	if n.Unsent > 0 {
		p.line("", "ended before they were written %s: the peer never saw them", Grouped(n.Unsent))
	}
	p.line("", "late %s, duplicate %s, unknown %s, progress %s, in flight at the end %s",
		Grouped(n.Late), Grouped(n.Duplicate), Grouped(n.Unknown), Grouped(n.Progress), Grouped(n.InFlight))
	if len(d.Problems) == 0 {
		p.line("", "%s: every call that was sent is accounted for%s", style.good("adds up"), d.agreement())
		return
	}
	for _, problem := range d.Problems {
		p.line("", "%s %s", style.bad("DOES NOT ADD UP:"), problem)
	}
}

// agreement says which counters were compared with the generator's.
func (d *Document) agreement() string {
	switch {
	case d.Error != "" || d.Counts.Cut:
		return ""
	case d.Server == nil:
		return ", and the connection agrees"
	}
	return ", and the connection and the server agree"
}
