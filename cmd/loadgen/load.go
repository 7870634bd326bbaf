package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/plan"
	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// repeatMax bounds -repeat, which catches slips of the key.
const repeatMax = 1000

// runLoad carries out a load test.
func runLoad(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	s, err := parseSettings(args, stdout)
	if err != nil {
		return exitUsage, err
	}
	if err := s.creatable(); err != nil {
		return exitError, err
	}
	if s.search != nil {
		return s.find(ctx, stdout, stderr)
	}
	worst := exitOK
	for i := range s.repeat {
		if ctx.Err() != nil {
			return exitError, nil
		}
		if s.repeat > 1 {
			fmt.Fprintf(s.text(stdout, stderr), "run %d of %d\n", i+1, s.repeat)
		}
		code, err := s.once(ctx, i, stdout, stderr)
		if err != nil {
			return exitError, err
		}
		worst = worse(worst, code)
	}
	return worst, nil
}

// worse is the exit code of two runs: what failed outweighs a missed goal.
func worse(a, b int) int {
	if a == exitError || b == exitError {
		return exitError
	}
	return max(a, b)
}

// text is where a person reads, since the JSON may have standard output.
func (s *settings) text(stdout, stderr io.Writer) io.Writer {
	if s.output == "-" {
		return stderr
	}
	return stdout
}

// once carries out run number i on connections of its own.
func (s *settings) once(ctx context.Context, i int, stdout, stderr io.Writer) (int, error) {
	g, err := s.rig(ctx)
	if err != nil {
		return exitError, err
	}
	defer g.close()
	config := s.describe(g.session, s.stages)
	text := s.text(stdout, stderr)
	if !s.quiet {
		if err := report.Heading(text, config); err != nil {
			return exitError, err
		}
	}
	look, err := s.look(ctx, config, stderr)
	if err != nil {
		return exitError, err
	}
	document, result, err := g.run(ctx, s.stages, config, look.hook)
	if err == nil {
		document.WantAnswer()
		// What a person reads comes whatever becomes of the files.
		err = errors.Join(document.Text(text, report.Style{Colour: colourful(text)}), s.leave(i, document, result, stdout))
	}
	if ended := look.end(document); err == nil {
		err = ended
	}
	if err != nil {
		return exitError, err
	}
	return document.Exit, nil
}

// look is everything that looks on while a run goes on.
type look struct {
	line     *live
	live     *report.Live
	control  *drive.Control
	watchers []watcher // that have begun
}

// look begins what was asked for. Nothing has begun beside an error.
func (s *settings) look(ctx context.Context, config report.Config, w io.Writer) (*look, error) {
	l := &look{}
	if !s.quiet {
		l.line = newLive(w)
	}
	if len(s.watchers) == 0 {
		return l, nil
	}
	l.live, l.control = report.NewLive(config, time.Now().Format(time.RFC3339)), new(drive.Control)
	for _, x := range s.watchers {
		if err := x.begin(ctx, l.live, l.control, w); err != nil {
			_ = l.end(nil) // err came first
			return nil, err
		}
		l.watchers = append(l.watchers, x)
	}
	return l, nil
}

func (l *look) hook(c *drive.Config) {
	c.Control = l.control
	line, live := l.line, l.live
	switch {
	case line != nil && live != nil:
		c.OnRow, c.OnEvent = func(row tally.Row) { line.row(row); live.Row(row) }, live.Event
	case live != nil:
		c.OnRow, c.OnEvent = live.Row, live.Event
	case line != nil:
		c.OnRow = line.row
	}
}

// end is told how the run went, and tells those that look on.
func (l *look) end(d *report.Document) (err error) {
	if l.line != nil {
		l.line.end()
	}
	if l.live != nil && d != nil {
		l.live.End(d)
	}
	for _, x := range l.watchers {
		if ended := x.end(d); err == nil {
			err = ended
		}
	}
	return err
}

// numbered is name for run number i of several: run.json becomes run.1.json.
func (s *settings) numbered(name string, i int) string {
	if s.repeat == 1 || name == "" {
		return name
	}
	extension := filepath.Ext(name)
	return fmt.Sprintf("%s.%d%s", strings.TrimSuffix(name, extension), i+1, extension)
}

// constant is a stage of one rate.
func constant(d time.Duration, rate float64) []plan.Stage {
	return []plan.Stage{{For: d, From: rate, To: rate}}
}
