package page

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/correlator-go/correlator/internal/load/report"
)

// content is what the template shows.
type content struct {
	Title, Policy string
	Style         template.CSS
	Script        template.JS
	Console       *console // nil for a finished run

	Over, Heading string
	Subs          []string
	Verdicts      []remark
	Tiles         []tile
	Callouts      []callout
	Tops          []table // above the charts
	Nines         chart
	Times         []chart
	Heats         []heatMap
	Tables        []table // below them
	Settings      []group
	Footer        string
}

// remark is a sentence with a class: "good", "bad" or "".
type remark struct{ Text, Class string }

type callout struct {
	Title string
	Lines []remark
}

type group struct {
	Title string
	Lines []setting
	Wide  bool
}

// view arranges everything but what makes a whole page of it.
func view(runs []*run) *content {
	first := runs[0]
	v := &content{Over: "Load report", Heading: heading(first)}
	if first.doc.Running {
		v.Over = "Load test, running"
	}
	for _, r := range runs {
		sub := loadText(r) + "; " + durationText(r) + "; " + began(r.doc.Began)
		if len(runs) > 1 {
			sub = r.name + ": " + heading(r) + ", " + sub
		}
		v.Subs = append(v.Subs, sub)
		v.Verdicts = append(v.Verdicts, verdicts(r, len(runs) > 1)...)
		v.Callouts = append(v.Callouts, callouts(r, len(runs) > 1)...)
	}
	if len(runs) > 1 {
		v.Over, v.Heading = "Two load tests compared", first.name+" and "+runs[1].name
		v.Tops = append(v.Tops, comparison(first, runs[1]))
	} else {
		v.Tiles = tiles(first)
	}
	v.Title = v.Heading + " – " + v.Over
	if g := goals(runs); len(g.Rows) > 0 {
		v.Tops = append(v.Tops, g)
	} else if len(v.Tops) > 0 {
		v.Tops[0].Wide = true
	}
	v.Nines, v.Times, v.Heats = ninesChart(runs), overTime(runs), heatMaps(runs)
	v.Tables = []table{percentiles(runs), accounting(runs)}
	if !first.doc.Running {
		v.Tables = append(v.Tables, costs(runs))
	}
	for _, r := range runs {
		v.Tables = append(v.Tables, parts(r, len(runs) > 1)...)
	}
	for _, r := range runs {
		g := group{Title: "Settings", Lines: settings(r)}
		if len(runs) > 1 {
			g.Title += " of " + r.name
		}
		v.Settings = append(v.Settings, g)
	}
	v.Settings[len(v.Settings)-1].Wide = (len(v.Tables)+len(v.Settings))%2 == 1
	tool := first.doc.Tool
	v.Footer = "Made by " + tool.Name + " " + tool.Version + ". Response time runs from when a call was due, service time from when it was sent. " +
		"This page asks for nothing from any network."
	return v
}

func heading(r *run) string { return r.doc.Config.Method + " on " + r.doc.Config.Target }

// verdicts are what to know before any figure.
func verdicts(r *run, named bool) []remark {
	d := r.doc
	prefix := ""
	if named {
		prefix = r.name + ": "
	}
	if d.Running {
		return nil
	}
	var out []remark
	if d.Error != "" {
		out = append(out, remark{prefix + "✗ failed", "bad"})
	}
	switch {
	case len(d.Problems) > 0:
		out = append(out, remark{prefix + "✗ does not add up", "bad"})
	case d.Error == "":
		out = append(out, remark{prefix + "✓ every call accounted for", "good"})
	}
	met := 0
	for _, s := range d.SLO {
		if s.Pass {
			met++
		}
	}
	switch n := len(d.SLO); {
	case n > 0 && met == n:
		out = append(out, remark{fmt.Sprintf("%s✓ %s met", prefix, goalsOf(n)), "good"})
	case n > 0:
		out = append(out, remark{fmt.Sprintf("%s✗ %d of %s missed", prefix, n-met, goalsOf(n)), "bad"})
	}
	return out
}

func goalsOf(n int) string { return report.Counted(int64(n), "goal") }

// eventsMost is how many things done to a run are listed, the last of them.
const eventsMost = 20

// callouts are the sentences of a run, worst first.
func callouts(r *run, named bool) []callout {
	d := r.doc
	title := func(text string) string {
		if named {
			return text + ": " + r.name
		}
		return text
	}
	var out []callout
	bad := callout{Title: title("What went wrong")}
	if d.Error != "" {
		bad.Lines = append(bad.Lines, remark{d.Error, "bad"})
	}
	for _, p := range d.Problems {
		bad.Lines = append(bad.Lines, remark{p, "bad"})
	}
	notes := callout{Title: title("To know when reading")}
	for _, n := range d.Notes {
		class := ""
		if strings.Contains(n, "BOTTLENECK") {
			class = "bad"
		}
		notes.Lines = append(notes.Lines, remark{n, class})
	}
	done := callout{Title: title("Done while it ran")}
	for _, e := range d.Events {
		done.Lines = append(done.Lines, remark{moment(e.At, r.line.end()) + ": " + e.Text, ""})
	}
	if n := len(done.Lines); n > eventsMost {
		done.Lines = append([]remark{{fmt.Sprintf("%d more before", n-eventsMost), ""}}, done.Lines[n-eventsMost:]...)
	}
	for _, c := range []callout{bad, notes, done} {
		if len(c.Lines) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// goals is what was asked for and what came of it, of all runs in one table: a goal
// stands once, with a column for each run. It has no rows if there are none.
func goals(runs []*run) table {
	t := table{Title: "Goals", Columns: names(runs, "measured"), Wide: len(runs) == 1}
	at := map[string]int{}
	for i, r := range runs {
		for _, s := range r.doc.SLO {
			n, ok := at[s.Goal]
			if !ok {
				n = len(t.Rows)
				at[s.Goal] = n
				t.Rows = append(t.Rows, line{Name: s.Goal, Cells: make([]figure, len(runs)), Verdict: "✓ met", Class: "good"})
				for c := range runs {
					t.Rows[n].Cells[c] = absent
				}
			}
			mark := " ✓"
			if !s.Pass {
				mark = " ✗"
				t.Rows[n].Verdict, t.Rows[n].Class = "✗ missed", "bad"
			}
			if len(runs) == 1 {
				mark = ""
			}
			t.Rows[n].Cells[i] = figure{Num: s.Text + mark}
		}
	}
	t.Columns = append(t.Columns, "verdict")
	return t
}

// parts is the connections and the entries of a mix, where there are several.
func parts(r *run, named bool) []table {
	var out []table
	for _, p := range []struct {
		title string
		of    []report.Part
	}{{"Connections", r.doc.Connections}, {"Mix", r.doc.Mix}} {
		if len(p.of) == 0 {
			continue
		}
		t := table{Title: p.title, Note: "Response times of the measured calls.", Columns: []string{"answered", "p50", "p99", "errors"}, Many: true}
		if named {
			t.Title += " of " + r.name
		}
		for _, part := range p.of {
			l := line{Name: part.Name, Cells: []figure{perSecond(part.Rate), absent, absent, count(part.Ends.Sum() - part.Ends.OK)}}
			if part.Response.Count > 0 {
				l.Cells[1], l.Cells[2] = latency(float64(part.Response.P50)), latency(float64(part.Response.P99))
			}
			t.Rows = append(t.Rows, l)
		}
		out = append(out, t)
	}
	return out
}
