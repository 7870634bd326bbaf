package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/correlator-go/correlator/internal/load/slo"
)

// Write writes c as indented JSON.
func (c *Comparison) Write(w io.Writer) error { return writeJSON(w, c) }

// Text writes the comparison as a table.
func (c *Comparison) Text(w io.Writer, style Style) error {
	p := &printer{w: w}
	p.line("before", "%s", c.Before.text())
	p.line("after", "%s", c.After.text())
	const row = "%14s %-8s %14s %-8s %9s  %-20s"
	p.line("metric", row+" %s", "before", "", "after", "", "change", "95% of it", "")
	for _, change := range c.Changes {
		verdict := change.Verdict
		switch {
		case change.Regressed:
			verdict = style.bad(fmt.Sprintf("REGRESSED by more than %.3g%%", *change.Allowed*100))
		case change.Verdict == Better:
			verdict = style.good(verdict)
		case change.Verdict == Worse && change.Allowed != nil:
			verdict += fmt.Sprintf(", and %.3g%% are allowed", *change.Allowed*100)
		}
		p.line(change.Metric, row+" %s", change.text(change.Before), spread(change.Before), change.text(change.After), spread(change.After),
			delta(change.Ratio), interval95(change.Ratio), verdict)
	}
	for _, n := range c.Notes {
		p.line("note", "%s", n)
	}
	return p.err
}

func (s Side) text() string {
	runs := Counted(int64(len(s.Runs)), "run")
	return fmt.Sprintf("%s (%s) of %s, loadgen %s", runs, shorten(strings.Join(s.Runs, ", "), 60), s.Config.Target, s.Tool.Version)
}

func shorten(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most-1]) + "…"
}

// text is an estimate in the words of a goal's verdict.
func (c *Change) text(e Estimate) string {
	return slo.Verdict{Goal: c.goal, Measured: e.Value, Known: true}.Value()
}

// spread is half of the interval's width.
func spread(e Estimate) string {
	if e.Low == nil || e.Value == 0 {
		return ""
	}
	half := (*e.High - *e.Low) / 2 / e.Value * 100
	if half >= 10 {
		return fmt.Sprintf("±%.0f%%", half)
	}
	return fmt.Sprintf("±%.2g%%", half)
}

func delta(ratio *Estimate) string {
	if ratio == nil {
		return "from none"
	}
	return signed(ratio.Value)
}

func interval95(ratio *Estimate) string {
	if ratio == nil || ratio.Low == nil {
		return ""
	}
	return signed(*ratio.Low) + " to " + signed(*ratio.High)
}

func signed(ratio float64) string {
	return fmt.Sprintf("%+.1f%%", (ratio-1)*100)
}
