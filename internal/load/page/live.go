package page

import (
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/correlator-go/correlator/internal/load/report"
)

// Live draws a run that goes on, as [Write] draws it when it is over. Each drawing
// takes in what came since the last. It is for one goroutine at a time.
type Live struct {
	source *report.Live
	now    run
	seen   int // rows taken in
	ended  *run
}

// NewLive returns the drawing of source. The run must keep the histograms of its
// intervals, else the page has no distribution and no heat map while it goes on.
func NewLive(source *report.Live) *Live { return &Live{source: source, now: run{class: "a"}} }

// Frame is a drawing of a run that goes on, as JSON for the page's script.
type Frame struct {
	HTML     string `json:"html"` // what stands below the buttons
	Title    string `json:"title"`
	State    string `json:"state"`  // a word or two
	Detail   string `json:"detail"` // a sentence
	Paused   bool   `json:"paused"`
	Stopping bool   `json:"stopping"` // asked to stop
	Open     bool   `json:"open"`     // has a rate to change
	Over     bool   `json:"over"`     // nothing will come any more
}

// console is the bar with the buttons.
type console struct {
	State, Detail string
	Script        template.JS
}

// Page writes the whole page as it stands now.
func (l *Live) Page(w io.Writer) error {
	r, err := l.read()
	if err != nil {
		return err
	}
	v := view([]*run{r})
	state, detail := stateOf(r.doc)
	v.Console = &console{State: state, Detail: detail, Script: template.JS(liveJS)}
	v.Policy, v.Style, v.Script = policy(true), styles, template.JS(script)
	return templates.ExecuteTemplate(w, "page", v)
}

// Frame draws what stands below the buttons as it is now.
func (l *Live) Frame() (Frame, error) {
	r, err := l.read()
	if err != nil {
		return Frame{}, err
	}
	v := view([]*run{r})
	var b strings.Builder
	if err := templates.ExecuteTemplate(&b, "report", v); err != nil {
		return Frame{}, err
	}
	f := Frame{
		HTML: b.String(), Paused: r.doc.Steering.Paused, Stopping: r.doc.Steering.Stopped,
		Open: r.doc.Config.Loop == "open", Over: !r.doc.Running,
	}
	f.State, f.Detail = stateOf(r.doc)
	f.Title = f.State + " – " + v.Title
	return f, nil
}

// Policy is the Content-Security-Policy that a live page is served under.
func Policy() string { return policy(true) + "; frame-ancestors 'none'" }

func (l *Live) read() (*run, error) {
	if l.ended != nil {
		return l.ended, nil
	}
	d := l.source.Document()
	if !d.Running {
		var err error
		l.ended, err = read(Run{Name: "run", Doc: &d}, "a")
		if err != nil {
			l.ended = nil
			return nil, err
		}
		return l.ended, nil
	}
	rows := l.source.Rows()
	l.now.follow(rows[l.seen:])
	l.seen = len(rows)
	l.now.doc = &d
	return &l.now, nil
}

// stateOf is what the bar says.
func stateOf(d *report.Document) (state, detail string) {
	asked := ""
	if d.Config.Loop == "open" && d.Steering.Factor != 1 {
		asked = fmt.Sprintf(", rate × %.3g", d.Steering.Factor)
	}
	detail = length(d.Rates.Elapsed) + asked
	if n := len(d.Intervals); n > 0 {
		last := d.Intervals[n-1].Row
		detail += ", " + perSecond(last.Rate()).String() + " answered in the last interval"
	}
	switch {
	case !d.Running && d.Error != "":
		return "Failed", d.Error
	case !d.Running:
		return "Ended", report.Counted(d.Counts.Measured.Sum(), "call") + " measured; this page stays as it is"
	case d.Steering.Stopped:
		return "Stopping", detail
	case d.Steering.Paused:
		return "Paused", detail
	case len(d.Intervals) == 0:
		return "Starting", "The first figures come when an interval ends."
	case d.Intervals[len(d.Intervals)-1].Warm:
		return "Warming up", detail
	}
	return "Running", detail
}
