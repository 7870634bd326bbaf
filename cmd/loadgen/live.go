package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/correlator-go/correlator/internal/load/slo"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// plainEvery is the pace of lines where nobody watches a terminal.
const plainEvery = 5.0

// live shows how a run goes: one line that is rewritten on a terminal, and a
// line every five seconds elsewhere. It is used by one goroutine at a time.
type live struct {
	w        io.Writer
	terminal bool
	brief    bool  // nothing where nobody watches a terminal
	late     int64 // late answers since the beginning
	dirty    bool  // the terminal's line is not empty
	// Since the last plain line.
	answered, errors int64
	seconds          float64
}

// newLive watches w, which is a terminal only if it is a file that says so.
func newLive(w io.Writer) *live {
	l := &live{w: w}
	if file, ok := w.(*os.File); ok {
		l.terminal = term.IsTerminal(int(file.Fd()))
	}
	return l
}

// row shows an interval that ended.
func (l *live) row(r tally.Row) {
	l.answered += r.Ends.OK + r.Ends.Error
	l.errors += r.Ends.Error + r.Ends.Timeout + r.Ends.Cancelled + r.Ends.Lost
	l.late += r.Late
	l.seconds += r.Length
	if !l.terminal && (l.brief || l.seconds < plainEvery) {
		return
	}
	stage := ""
	if r.Warm {
		stage = " warm-up"
	}
	rate := float64(l.answered) / max(l.seconds, 1e-9)
	errors := l.errors
	l.answered, l.errors, l.seconds = 0, 0, 0
	latency := ""
	if r.Response.Count > 0 {
		latency = fmt.Sprintf("  p50 %v  p99 %v", slo.Round(time.Duration(r.Response.P50)), slo.Round(time.Duration(r.Response.P99)))
	}
	text := fmt.Sprintf("%5.1fs%s  %.0f/s%s  in flight %d  errors %d  late %d", r.Start+r.Length, stage, rate, latency, r.InFlight, errors, l.late)
	if !l.terminal {
		fmt.Fprintln(l.w, text)
		return
	}
	// Back to the first column, and what is left of the line before is erased.
	fmt.Fprint(l.w, "\r"+text+"\x1b[K")
	l.dirty = true
}

// end leaves a terminal's line empty.
func (l *live) end() {
	if l.dirty {
		fmt.Fprint(l.w, "\r\x1b[K")
		l.dirty = false
	}
}

// colourful reports whether w is a terminal whose user has not asked for no
// colours (https://no-color.org).
func colourful(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}
