package main

import (
	"context"
	"fmt"
	"io"

	"github.com/correlator-go/correlator/internal/load/plan"
	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/search"
	"github.com/correlator-go/correlator/internal/load/slo"
)

// fewest is how many requests a probe must at least consist of: of fewer no
// percentile says anything.
const fewest = 20

// readSearch reads -search.
func (s *settings) readSearch(w *words) (err error) {
	if w.search == "" {
		return nil
	}
	for _, name := range []string{"stages", "n", "repeat", "hdr", "hlog", "slo"} {
		if w.set[name] {
			return fmt.Errorf("-search probes rates by itself; -%s does not go with it", name)
		}
	}
	if s.drive.Duration <= 0 {
		return fmt.Errorf("-search needs -d, the time of each probe")
	}
	if s.search, err = slo.Parse(w.search); err != nil {
		return fmt.Errorf("-search: %w", err)
	}
	s.goals, s.stages = s.search, nil
	if w.rate != "" {
		s.start, err = plan.ParseRate(w.rate)
	}
	return err
}

// find searches for the highest rate at which the goals hold.
func (s *settings) find(ctx context.Context, stdout, stderr io.Writer) (int, error) {
	g, err := s.rig(ctx)
	if err != nil {
		return exitError, err
	}
	defer func() { g.close() }()
	finder := search.New(s.start, fewest/s.drive.Duration.Seconds(), 0)
	first, _ := finder.Next()
	config := s.describe(g.session, constant(s.drive.Duration, first))
	found := report.NewSearch(config, s.words.search)
	text := s.text(stdout, stderr)
	style := report.Style{Colour: colourful(text)}
	if !s.quiet {
		if err := found.Heading(text); err != nil {
			return exitError, err
		}
	}
	for rate, more := finder.Next(); more; rate, more = finder.Next() {
		if g.broken() { // the last probe's end was that of its connections
			g.close()
			if g, err = s.rig(ctx); err != nil {
				return exitError, err
			}
		}
		stages := constant(s.drive.Duration, rate)
		line := &look{}
		if !s.quiet {
			line.line = newLive(stderr)
			line.line.brief = true
		}
		document, _, err := g.run(ctx, stages, s.describe(g.session, stages), line.hook)
		_ = line.end(document) // it only clears a line
		if err != nil {
			return exitError, err
		}
		probe := found.Add(rate, document, finder.Repeating(), finder.Confirming())
		if !s.quiet {
			if err := probe.Text(text, style); err != nil {
				return exitError, err
			}
		}
		if document.Error != "" || ctx.Err() != nil || len(document.Problems) > 0 {
			found.Fail(document)
			break
		}
		finder.Record(probe.Holds)
	}
	found.Answer(finder)
	if err := writeTo(s.output, stdout, found.Write); err != nil {
		return exitError, err
	}
	return found.Exit, found.Text(text, style)
}
