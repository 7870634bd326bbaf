package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/plan"
	"github.com/correlator-go/correlator/internal/load/slo"
	"github.com/correlator-go/correlator/internal/load/target"
)

// settings is a load test as the command line asks for it.
type settings struct {
	args    []string
	target  string
	spec    target.Spec
	framing string
	framer  codec.Framer
	profile codec.Profile
	drive   drive.Config
	stages  []plan.Stage // of the open loop, without the warm-up
	payload string       // how the params are described
	mcp     bool
	tool    string
	toolArg string
	seed    uint64
	shape   echo.Shape
	goals   []slo.Goal

	output       string
	hdr, hlog    string
	quiet        bool
	peerCounters bool
}

// The defaults that help names.
const (
	defaultInFlight = 1024
	defaultDuration = 5 * time.Second
	defaultWarmup   = 500 * time.Millisecond
	defaultTimeout  = 10 * time.Second
	defaultSize     = "100"
	// lateAfter is how long after the client's timeout pipe:echo answers late.
	lateAfter = 100 * time.Millisecond
	// endless is the length of a schedule that a number of requests ends.
	endless = 10_000 * time.Hour
)

// words are the flags that need a second look once all are known.
type words struct {
	rate, stages, size, body, mode, end, profile, slo string
	duration, warmup                                  time.Duration
	set                                               map[string]bool
}

func parseSettings(args []string, stdout io.Writer) (*settings, error) {
	s := &settings{args: args, tool: "echo"}
	var w words
	f := flagSet("loadgen", helpLoad, stdout)
	f.StringVar(&s.target, "target", target.Default, "")
	f.StringVar(&s.framing, "framing", "line", "")
	f.StringVar(&w.profile, "profile", "mcp", "")
	f.StringVar(&w.rate, "rate", "", "")
	f.StringVar(&w.stages, "stages", "", "")
	f.IntVar(&s.drive.InFlight, "c", defaultInFlight, "")
	f.BoolVar(&s.drive.Drop, "drop", false, "")
	f.StringVar(&w.mode, "mode", "batch", "")
	f.DurationVar(&w.duration, "d", defaultDuration, "")
	f.Int64Var(&s.drive.Requests, "n", 0, "")
	f.DurationVar(&w.warmup, "warmup", defaultWarmup, "")
	f.DurationVar(&s.drive.Timeout, "timeout", defaultTimeout, "")
	f.StringVar(&w.end, "end", "wait", "")
	f.StringVar(&s.drive.Method, "method", "echo", "")
	f.StringVar(&w.size, "size", defaultSize, "")
	f.StringVar(&w.body, "body", "", "")
	f.BoolVar(&s.mcp, "mcp", false, "")
	f.StringVar(&s.tool, "tool", "echo", "")
	f.StringVar(&s.toolArg, "args", "", "")
	f.BoolVar(&s.drive.Progress, "want-progress", false, "")
	f.Uint64Var(&s.seed, "seed", 1, "")
	f.StringVar(&w.slo, "slo", "", "")
	f.StringVar(&s.output, "o", "", "")
	f.StringVar(&s.hdr, "hdr", "", "")
	f.StringVar(&s.hlog, "hlog", "", "")
	f.BoolVar(&s.quiet, "quiet", false, "")
	f.BoolVar(&s.peerCounters, "peer-counters", false, "")
	shapeFlags(f, &s.shape)
	if err := parse(f, args); err != nil {
		return nil, err
	}
	s.drive.Histograms = s.output != "" || s.hlog != ""
	w.set = map[string]bool{}
	f.Visit(func(f *flag.Flag) { w.set[f.Name] = true })
	for _, step := range []func(*words) error{s.readTarget, s.readLoad, s.readRequest, s.readFaults} {
		if err := step(&w); err != nil {
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
	s.profile, err = profileOf(w.profile)
	return err
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
	open := w.rate != "" || w.stages != ""
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
	case c.InFlight < 1 || c.InFlight > drive.InFlightMax:
		return fmt.Errorf("-c %d: want 1 to %d", c.InFlight, drive.InFlightMax)
	case c.Drop && !open:
		return fmt.Errorf("-drop needs an open loop: -rate or -stages")
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
	s.stages = []plan.Stage{{For: length, From: rate, To: rate}}
	return err
}

// readRequest reads what is sent.
func (s *settings) readRequest(w *words) error {
	if s.mcp {
		for _, name := range []string{"method", "size", "body"} {
			if w.set[name] {
				return fmt.Errorf("-mcp loads tools/call with -tool and -args; -%s does not go with it", name)
			}
		}
		s.drive.Method = "tools/call"
		_, err := plan.ToolParams(s.tool, s.toolArg, nil)
		return err
	}
	if w.set["tool"] || w.set["args"] {
		return fmt.Errorf("-tool and -args need -mcp")
	}
	if s.drive.Method == "" {
		return fmt.Errorf("-method cannot be empty")
	}
	if w.body == "" {
		least, most, err := plan.ParseSize(w.size)
		if err == nil {
			s.drive.Payload = plan.NewPayload(least, most, s.seed)
			s.payload = "with " + w.size + " B of params"
		}
		return err
	}
	if w.set["size"] {
		return fmt.Errorf("-size and -body are two ways to say the same: give one")
	}
	body := []byte(w.body)
	if name, isFile := strings.CutPrefix(w.body, "@"); isFile {
		var err error
		if body, err = os.ReadFile(name); err != nil {
			return fmt.Errorf("-body: %w", err)
		}
	}
	// Compacted, since a line break inside would end the frame of the line framing.
	compact, err := compactJSON(body)
	if err != nil {
		return fmt.Errorf("-body: %w", err)
	}
	s.drive.Payload = plan.FixedPayload(compact)
	s.payload = fmt.Sprintf("with %d B of params from -body", len(compact))
	return nil
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

// compactJSON checks that text is a JSON object or array, which params must be,
// and takes the spaces out.
func compactJSON(text []byte) ([]byte, error) {
	var value json.RawMessage
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	if len(value) == 0 || value[0] != '{' && value[0] != '[' {
		return nil, fmt.Errorf("params must be an object or an array")
	}
	return json.Marshal(value)
}
