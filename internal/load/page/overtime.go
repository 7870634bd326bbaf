package page

import (
	"fmt"
	"math"
	"strings"

	"github.com/correlator-go/correlator/internal/load/tally"
)

// series is one figure of a run over time.
type series struct {
	name, class string
	value       func(*point) (float64, bool)
	print       func(float64) figure
}

// overTime is the charts that have the run's time as their axis. Of one run, what
// belongs together shares a chart; two runs share each chart of one figure.
func overTime(runs []*run) []chart {
	end, warm := 0.0, 0.0
	for _, r := range runs {
		end = max(end, r.line.end())
		warm = max(warm, r.line.warm())
	}
	x := clock(end)
	draw := func(c chart, log bool, of []series) chart { return timeChart(c, runs, &x, warm, log, of) }
	p50 := series{"p50", "p50", latencyOf(func(s *tally.Summary) int64 { return s.P50 }), latency}
	p99 := series{"p99", "p99", latencyOf(func(s *tally.Summary) int64 { return s.P99 }), latency}
	p999 := series{"p99.9", "p999", latencyOf(func(s *tally.Summary) int64 { return s.P999 }), latency}
	answered := series{"answered", "a filled", always((*point).rate), perSecond}
	sent := series{"sent", "neutral dashed", always((*point).sentRate), perSecond}
	flight := series{"in flight", "a filled", always(func(p *point) float64 { return float64(p.inFlight) }), whole0}

	rate := chart{ID: "rate", Title: "Rate", Note: "Calls a second."}
	inFlight := chart{ID: "in-flight", Title: "In flight", Note: "Calls sent and not yet settled, at the end of each interval."}
	errors := chart{ID: "errors", Title: "Errors", Note: "Calls that did not end well, per interval."}
	if len(runs) > 1 {
		out := []chart{draw(rate, false, []series{answered})}
		for _, p := range []series{p50, p99, p999} {
			p.class = ""
			out = append(out, draw(chart{ID: p.name, Title: p.name, Note: "Response time of the calls that ended in each interval."}, true, []series{p}))
		}
		flight.class, answered.class = "", ""
		failed := series{"errors", "", always(func(p *point) float64 { return float64(p.failed()) }), whole0}
		return append(out, draw(inFlight, false, []series{flight}), draw(errors, false, []series{failed}))
	}
	out := []chart{
		draw(rate, false, []series{answered, sent}),
		draw(chart{ID: "latency", Title: "Response time", Note: "Of the calls that ended in each interval; logarithmic."}, true, []series{p50, p99, p999}),
		draw(inFlight, false, []series{flight}),
		draw(errors, false, someOf(runs[0], []series{
			{"error", "bad", always(func(p *point) float64 { return float64(p.ends.Error) }), whole0},
			{"timeout", "p999 dashed", always(func(p *point) float64 { return float64(p.ends.Timeout) }), whole0},
			{"cancelled", "neutral", always(func(p *point) float64 { return float64(p.ends.Cancelled) }), whole0},
			{"lost", "b dotted", always(func(p *point) float64 { return float64(p.ends.Lost) }), whole0},
		}, series{"errors", "bad", always(func(p *point) float64 { return float64(p.failed()) }), whole0})),
	}
	behind := someOf(runs[0], []series{
		{"sent behind their time", "a", always(func(p *point) float64 { return float64(p.behind) }), whole0},
		{"dropped", "bad dashed", always(func(p *point) float64 { return float64(p.dropped) }), whole0},
	})
	if len(behind) > 0 {
		out = append(out, draw(chart{ID: "behind", Title: "Behind and dropped", Note: "Calls of the open loop that were not sent when they were due, per interval.", Size: "wide"}, false, behind))
	}
	return out
}

// someOf is those of kinds of which there were any, else otherwise.
func someOf(r *run, kinds []series, otherwise ...series) []series {
	var out []series
	for _, k := range kinds {
		for i := range r.line.points {
			if v, _ := k.value(&r.line.points[i]); v > 0 {
				out = append(out, k)
				break
			}
		}
	}
	if len(out) == 0 {
		return otherwise
	}
	return out
}

func always(of func(*point) float64) func(*point) (float64, bool) {
	return func(p *point) (float64, bool) { return of(p), true }
}

// latencyOf reads the response times, of which an interval may have none.
func latencyOf(of func(*tally.Summary) int64) func(*point) (float64, bool) {
	return func(p *point) (float64, bool) { return float64(of(&p.response)), p.response.Count > 0 }
}

func whole0(v float64) figure { return count(int64(v)) }

func timeChart(c chart, runs []*run, x *scale, warm float64, log bool, of []series) chart {
	var seen extent
	points := 0
	for _, r := range runs {
		for i := range r.line.points {
			points++
			for _, s := range of {
				if v, ok := s.value(&r.line.points[i]); ok {
					seen.add(v)
				}
			}
		}
	}
	if points == 0 {
		c.Empty = "Nothing yet: the first interval has not ended."
		return c
	}
	if log && seen.none() {
		c.Empty = "No call was answered, so there is no latency to show."
		return c
	}
	var y scale
	switch {
	case log:
		y = logarithmic(seen.least, seen.most)
	case seen.most > 0 && seen.most < 4: // counts: no ticks between whole numbers
		y = linear(seen.most, int(seen.most+0.5), compact)
	default:
		y = linear(seen.most, 4, compact)
	}
	c.X, c.Y, c.Grid = x.ticks, y.ticks, grid(x.ticks, y.ticks)
	if warm > 0 {
		c.Warm = math.Round(x.at(warm))
	}
	if len(runs) == 1 {
		for _, e := range runs[0].doc.Events {
			c.Marks += "M" + coordinate(x.at(e.At)) + " 0v1000"
		}
	}
	// The readout stops at the intervals of the run that has more of them, and the
	// other run says what it had at that time.
	guide := runs[0]
	for _, r := range runs[1:] {
		if len(r.line.points) > len(guide.line.points) {
			guide = r
		}
	}
	var xs, heads []string
	for i := range guide.line.points {
		p := &guide.line.points[i]
		xs = append(xs, coordinate(x.at(p.middle())))
		heads = append(heads, moment(p.start, x.to)+" – "+moment(p.end(), x.to))
	}
	c.Xs, c.Heads = strings.Join(xs, " "), strings.Join(heads, separator)
	for _, r := range runs {
		for _, s := range of {
			l, below, said := drawSeries(r, guide, s, x, &y, len(runs) > 1)
			c.Lines = append(c.Lines, l)
			c.Summary += said
			if below != "" {
				c.Areas = append(c.Areas, area{r.class, below})
			}
		}
	}
	return c
}

// drawSeries draws s of r, and reads it at the intervals of guide.
func drawSeries(r, guide *run, s series, x, y *scale, several bool) (l stroke, below, said string) {
	t := trace{name: s.name, class: s.class}
	if several {
		t.name, t.class = r.name, r.class
		if r.class == "b" {
			t.class += " dashed"
		}
	}
	var seen extent
	for i := range r.line.points {
		p := &r.line.points[i]
		v, ok := s.value(p)
		if !ok {
			t.gap()
			continue
		}
		seen.add(v)
		t.to(x.at(p.middle()), y.down(v), x.at(p.end())-x.at(p.middle()), s.print(v).String())
	}
	l = t.stroke()
	if strings.Contains(s.class, "filled") && !several {
		below = t.below.String()
	}
	if r != guide {
		l.Ys, l.Values = readAt(r, guide, s, y)
	}
	if seen.none() {
		return l, below, fmt.Sprintf("%s: 0 throughout. ", t.name)
	}
	return l, below, fmt.Sprintf("%s: between %s and %s. ", t.name, s.print(seen.least), s.print(seen.most))
}

// readAt is what r had in the middle of each interval of guide.
func readAt(r, guide *run, s series, y *scale) (ys, values string) {
	var at, said []string
	next := 0
	for i := range guide.line.points {
		middle := guide.line.points[i].middle()
		for next < len(r.line.points) && r.line.points[next].end() < middle {
			next++
		}
		if next < len(r.line.points) {
			if v, ok := s.value(&r.line.points[next]); ok && r.line.points[next].start <= middle {
				at, said = append(at, coordinate(y.down(v))), append(said, s.print(v).String())
				continue
			}
		}
		at, said = append(at, "-"), append(said, "–")
	}
	return strings.Join(at, " "), strings.Join(said, separator)
}
