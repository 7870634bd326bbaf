package report

import (
	"sync"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// Live is a run that is going on, as a [Document] that grows: whoever shows it
// shows a finished run in the same way. Its methods are safe for concurrent use.
//
// Row and Event are what [drive.Config.OnRow] and OnEvent want, End gets the document of the finished
// run. Meanwhile Document has what the rows tell: the counts and the rates so
// far, both latencies if the rows kept their histograms, and the intervals. Cost,
// goals, notes and problems are known at the end only.
type Live struct {
	mu                sync.Mutex // protects the fields below
	doc               Document
	rows              []tally.Row
	response, service *hdr.Histogram
	answered, sent    int64   // after the warm-up
	seconds           float64 // after the warm-up
	changed           chan struct{}
	ended             bool
}

// NewLive returns a run of which nothing has come yet. began is RFC 3339.
func NewLive(c Config, began string) *Live {
	return &Live{
		doc: Document{
			Schema: Schema, Tool: thisTool(), Began: began, Config: c, Running: true, Steering: drive.Steering{Factor: 1},
			Intervals: []Interval{}, Connections: []Part{}, Mix: []Part{}, Events: []drive.Event{}, SLO: []SLO{}, Notes: []string{}, Problems: []string{},
		},
		response: tally.NewHistogram(), service: tally.NewHistogram(), changed: make(chan struct{}),
	}
}

// Row adds an interval that has ended. It does nothing after End.
func (l *Live) Row(row tally.Row) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.rows = append(l.rows, row)
	d := &l.doc
	d.Intervals = append(d.Intervals, Interval{Row: row, Response: Distribution{Summary: row.Response}, Service: Distribution{Summary: row.Service}})
	n := &d.Counts
	n.Sent, n.Behind, n.Dropped, n.Late = n.Sent+row.Sent, n.Behind+row.Behind, n.Dropped+row.Dropped, n.Late+row.Late
	n.Planned, n.InFlight, n.Ends = n.Sent+n.Dropped, int64(row.InFlight), n.Ends.Add(row.Ends)
	d.Rates.Elapsed = row.Start + row.Length
	if !row.Warm {
		l.answered, l.sent, l.seconds = l.answered+row.Ends.OK+row.Ends.Error, l.sent+row.Sent, l.seconds+row.Length
		n.Measured = n.Measured.Add(row.Ends)
		d.Rates.Seconds = l.seconds
		d.Rates.Answered, d.Rates.Offered = perLength(l.answered, l.seconds), perLength(l.sent, l.seconds)
		d.Rates.Asked = perLength(l.sent+n.Dropped, l.seconds)
	}
	if row.Kept.Response != nil {
		row.Kept.Response.MergeInto(l.response)
		row.Kept.Service.MergeInto(l.service)
		d.Latency.Response.Summary, d.Latency.Service.Summary = tally.Summarize(l.response), tally.Summarize(l.service)
	}
	l.tell()
}

// Event notes what was done to the run: it is what [drive.Config.OnEvent] wants. It
// does nothing after End.
func (l *Live) Event(e drive.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.doc.Events, l.doc.Steering = append(l.doc.Events, e), e.Steering
		l.tell()
	}
}

// End puts the finished run in the place of what was known until then.
func (l *Live) End(d *Document) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doc, l.ended = *d, true
	l.tell()
}

// Document returns what is known now. Its slices grow no more and must not be
// written to; its histograms are "" while Running.
func (l *Live) Document() Document {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.doc
}

// Rows returns the intervals so far, with their histograms if the run keeps them.
// The slice must not be written to. After End it has them still.
func (l *Live) Rows() []tally.Row {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rows
}

// Changed returns a channel that is closed at the next change: ask for it, read
// the Document, then wait.
func (l *Live) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// tell needs l.mu.
func (l *Live) tell() {
	close(l.changed)
	l.changed = make(chan struct{})
}

func perLength(n int64, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(n) / seconds
}
