package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/plan"
	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/target"
)

const (
	// openTimeout bounds connecting and the greeting. A child that npx has to
	// fetch first takes a while.
	openTimeout = 2 * time.Minute
	// probeTimeout is how long server/discover may stay unanswered.
	probeTimeout = 20 * time.Second
	// countersWait bounds the wait for answers that are still on the way when
	// the counters are compared, beyond what the faults hold back.
	countersWait = 2 * time.Second
)

// runLoad carries out one load test.
func runLoad(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	s, err := parseSettings(args, stdout)
	if err != nil {
		return exitUsage, err
	}
	opening, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	t, err := s.open(opening)
	if err != nil {
		return exitError, err
	}
	defer t.Close()
	session, err := s.greet(opening, t.Conn)
	if err != nil {
		return exitError, explain(t.Conn, err)
	}
	var before echo.Counts
	compare := t.Echo != nil || s.peerCounters
	if compare {
		if before, err = t.Counts(opening); err != nil {
			return exitError, err
		}
	}

	config := s.describe(session)
	text := stdout
	if s.output == "-" {
		text = stderr // stdout is the JSON
	}
	watch := newLive(stderr, func() uint64 { return t.Conn.Stats().Calls.Late })
	if !s.quiet {
		if err := report.Heading(text, config); err != nil {
			return exitError, err
		}
		s.drive.OnRow = watch.row
	}
	s.drive.Schedule = s.schedule()
	s.drive.Sleep = drive.PreciseSleep
	result, failure := drive.Run(ctx, t.Conn, s.drive)
	watch.end()
	if result == nil {
		return exitError, failure
	}
	var server *echo.Counts
	if compare {
		server = s.counts(context.WithoutCancel(ctx), t, result, before, failure != nil)
	}
	if failure != nil {
		failure = explain(t.Conn, failure)
	}
	document, err := report.Build(config, result, server, s.goals, failure)
	if err != nil {
		return exitError, err
	}
	if err := s.leave(document, result, stdout); err != nil {
		return exitError, err
	}
	return document.Exit, document.Text(text, report.Style{Colour: colourful(text)})
}

// open connects to the target.
func (s *settings) open(ctx context.Context) (*target.Target, error) {
	o := target.Options{
		Conn: conn.Options{
			Profile: s.profile, Framer: s.framer, Timeout: s.drive.Timeout,
			// Room for every caller and for what is said around the load. Who
			// finds the write buffer full waits: that is the peer not reading.
			MaxPending: s.drive.InFlight + 64, Overflow: engine.OverflowWait,
		},
		Echo: echo.Options{Framer: s.framer, Profile: s.profile, MCP: s.mcp, Shape: s.shape, Seed: s.seed},
	}
	if s.drive.End == drive.Cut {
		o.Conn.CloseTimeout = -1
	}
	return target.Open(ctx, s.spec, o)
}

// greet does what the peer expects before it is loaded, and settles the params.
func (s *settings) greet(ctx context.Context, c *conn.Conn) (target.Session, error) {
	if !s.mcp {
		return target.Session{}, nil
	}
	session, err := target.Shake(ctx, c, probeTimeout)
	if err != nil {
		return session, err
	}
	params, err := plan.ToolParams(s.tool, s.toolArg, session.Meta)
	if err != nil {
		return session, err
	}
	// One call ahead of the load: a wrong tool is said once, not a million times.
	result, err := c.Call(ctx, s.drive.Method, params, conn.CallOptions{})
	if err == nil && target.ToolFailed(result) {
		err = fmt.Errorf("the tool failed: %s", result)
	}
	if err != nil {
		return session, fmt.Errorf("tools/call %s, once before the load: %w", s.tool, err)
	}
	s.drive.Payload = plan.FixedPayload(params)
	s.drive.Refused = target.ToolFailed
	s.payload = fmt.Sprintf("of %s with %d B of params", s.tool, len(params))
	return session, nil
}

// schedule is the plan of the open loop with the warm-up before it, at the rate
// with which the first stage begins; nil for a closed loop.
func (s *settings) schedule() *plan.Schedule {
	if len(s.stages) == 0 {
		return nil
	}
	stages := s.stages
	if s.drive.Warmup > 0 {
		first := stages[0].From
		stages = append([]plan.Stage{{For: s.drive.Warmup, From: first, To: first}}, stages...)
	}
	return plan.NewSchedule(stages)
}

// counts reads the server's counters for the run, once what it sent has come. It
// returns nil where they cannot be asked.
func (s *settings) counts(ctx context.Context, t *target.Target, r *drive.Result, before echo.Counts, broken bool) *echo.Counts {
	if broken || r.Cut {
		if t.Echo == nil {
			return nil
		}
		_ = t.Close() // waits for the server: what it counts is final then
		sum := t.Echo.Snapshot().Sub(before)
		r.Reread(t.Conn, 0)
		return &sum
	}
	asked := t.Asked()
	most := countersWait + s.shape.LateBy + max(s.drive.Timeout, 0)
	after, err := t.Settled(ctx, most, func(now echo.Counts) bool {
		r.Reread(t.Conn, t.Asked()-asked)
		sum := now.Sub(before)
		return len(drive.Audit(r, &sum, false)) == 0
	})
	if err != nil {
		return nil
	}
	r.Reread(t.Conn, t.Asked()-asked)
	sum := after.Sub(before)
	return &sum
}

// explain prefers what the connection says of its end to the error of a call.
func explain(c *conn.Conn, err error) error {
	ended := c.Err()
	if ended == nil {
		return err
	}
	if _, ok := errors.AsType[*conn.PeerGone](ended); ok {
		return ended
	}
	return fmt.Errorf("the connection ended: %w", ended)
}
