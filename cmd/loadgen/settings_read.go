package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/plan"
	"github.com/correlator-go/correlator/internal/load/slo"
	"github.com/correlator-go/correlator/internal/load/target"
)

func parseSettings(args []string, stdout io.Writer) (*settings, error) {
	s := newSettings(stdout)
	s.args = args
	if err := parse(s.flags, args); err != nil {
		return nil, err
	}
	w := &s.words
	w.set = map[string]bool{}
	s.flags.Visit(func(f *flag.Flag) { w.set[f.Name] = true })
	for _, step := range []func(*words) error{s.readTarget, s.readLoad, s.readSearch, s.readRequest, s.readPrelude, s.readFaults, s.readOutputs} {
		if err := step(w); err != nil {
			if _, ok := errors.AsType[usageError](err); ok {
				return nil, err
			}
			return nil, usageError{err}
		}
	}
	return s, nil
}

func (s *settings) readTarget(w *words) (err error) {
	if s.spec, err = target.Parse(s.target); err != nil {
		return err
	}
	if s.framer, err = framerOf(s.framing); err != nil {
		return err
	}
	if s.drive.InFlight < 1 || s.drive.InFlight > drive.InFlightMax {
		return fmt.Errorf("-c %d: want 1 to %d", s.drive.InFlight, drive.InFlightMax)
	}
	if s.conns < 1 || s.conns > min(drive.LinksMax, s.drive.InFlight) {
		return fmt.Errorf("-conns %d: want 1 to %d, and no more than -c %d", s.conns, drive.LinksMax, s.drive.InFlight)
	}
	if s.profile, err = profileOf(w.profile); err != nil {
		return err
	}
	if s.greet.Era, err = target.ParseEra(w.era); err != nil {
		return fmt.Errorf("-%w", err)
	}
	s.greet.Probe = probeTimeout
	return s.readMCP(w)
}

// web reports whether the target is an HTTP endpoint.
func (s *settings) web() bool { return s.spec.Kind == "http" || s.spec.Kind == "https" }

// readMCP checks what goes with -mcp, and with the targets that speak nothing else.
func (s *settings) readMCP(w *words) error {
	web := s.web()
	switch {
	case w.set["era"] && !s.mcp:
		return fmt.Errorf("-era needs -mcp")
	case web && !s.mcp:
		return fmt.Errorf("-target %s: what is at an HTTP endpoint speaks MCP: add -mcp", s.target)
	case web && (w.set["framing"] || w.set["profile"]):
		return fmt.Errorf("-framing and -profile are of connections; HTTP has its own")
	case web && s.peerCounters:
		return fmt.Errorf("-peer-counters: loadgen serve is no HTTP endpoint")
	}
	if web {
		s.framing = "http"
	}
	return nil
}

// readLoad reads how much is sent, and when.
func (s *settings) readLoad(w *words) (err error) {
	c := &s.drive
	if c.Mode, err = drive.ParseMode(w.mode); err != nil {
		return err
	}
	if c.End, err = drive.ParseEnd(w.end); err != nil {
		return err
	}
	open := w.rate != "" || w.stages != "" || w.search != ""
	c.Duration, c.Warmup = w.duration, w.warmup
	if c.Requests > 0 || w.stages != "" {
		if !w.set["d"] {
			c.Duration = 0
		}
		if !w.set["warmup"] && c.Requests > 0 {
			c.Warmup = 0
		}
	}
	switch {
	case w.rate != "" && w.stages != "":
		return fmt.Errorf("-rate and -stages are two ways to say the same: give one")
	case c.Drop && !open:
		return fmt.Errorf("-drop needs an open loop: -rate, -stages or -search")
	case c.Requests < 0 || c.Duration < 0 || c.Warmup < 0:
		return fmt.Errorf("-n, -d and -warmup cannot be negative")
	case c.Duration == 0 && c.Requests == 0 && w.stages == "":
		return fmt.Errorf("-d 0 needs -n: nothing ends the run")
	}
	if w.slo != "" {
		if s.goals, err = slo.Parse(w.slo); err != nil {
			return err
		}
	}
	if w.stages != "" {
		if s.stages, err = plan.ParseStages(w.stages); err == nil && c.Duration == 0 {
			c.Duration = plan.NewSchedule(s.stages).Length()
		}
		return err
	}
	if w.rate == "" {
		return nil
	}
	rate, err := plan.ParseRate(w.rate)
	if err == nil && rate == 0 {
		err = fmt.Errorf("-rate 0 sends nothing")
	}
	length := c.Duration
	if length == 0 {
		length = endless
	}
	s.stages = constant(length, rate)
	return err
}

func (s *settings) readFaults(w *words) error {
	if s.shape != (echo.Shape{}) && s.spec.Kind != "pipe" {
		return fmt.Errorf("faults are of pipe:echo; give them to loadgen serve at the other end of %s", s.target)
	}
	if s.shape.Late > 0 && s.shape.LateBy == 0 {
		if s.drive.Timeout <= 0 {
			return fmt.Errorf("-late without a timeout: nothing is late")
		}
		s.shape.LateBy = s.drive.Timeout + lateAfter
	}
	if s.shape.ProgressEvery > 0 {
		s.drive.Progress = true
	}
	return s.shape.Validate()
}

// readOutputs reads what looks on and what is left behind.
func (s *settings) readOutputs(w *words) error {
	for _, x := range w.looking {
		wanted, err := x.wanted()
		if err != nil {
			return err
		}
		if wanted {
			s.watchers = append(s.watchers, x)
		}
	}
	switch {
	case s.repeat < 1 || s.repeat > repeatMax:
		return fmt.Errorf("-repeat %d: want 1 to %d", s.repeat, repeatMax)
	case len(s.watchers) > 0 && (s.repeat > 1 || s.search != nil):
		return fmt.Errorf("what shows a run shows one: not with -repeat or -search")
	case s.repeat > 1 && s.output == "-":
		return fmt.Errorf("-repeat writes a file for each run: -o needs a name")
	}
	s.drive.Histograms = s.output != "" || s.hlog != "" || len(s.watchers) > 0
	return nil
}
