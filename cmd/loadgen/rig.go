package main

import (
	"context"
	"errors"
	"fmt"
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

// rig is a target that is open and greeted, ready for runs.
type rig struct {
	*settings
	t       *target.Target
	session target.Session
	mix     *plan.Mix
	strays  *strays
}

// rig opens the target.
func (s *settings) rig(ctx context.Context) (*rig, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	seen := new(strays)
	t, err := s.open(ctx, seen)
	if err != nil {
		return nil, err
	}
	g := &rig{settings: s, t: t, strays: seen}
	if err := g.greet(ctx); err != nil {
		err = explain(t.Conns, err)
		for _, note := range seen.notes() {
			err = fmt.Errorf("%w; %s", err, note)
		}
		_ = t.Close() // err says more
		return nil, err
	}
	return g, nil
}

// close ends the connections. What the run found is known by then.
func (g *rig) close() { _ = g.t.Close() }

// broken reports whether a connection has ended.
func (g *rig) broken() bool {
	for _, c := range g.t.Conns {
		if c.Err() != nil {
			return true
		}
	}
	return false
}

func (s *settings) open(ctx context.Context, seen *strays) (*target.Target, error) {
	o := target.Options{
		Conn: conn.Options{
			Profile: s.profile, Framer: s.framer, Timeout: s.drive.Timeout,
			// Room for every caller and for what is said around the load. Who
			// finds the write buffer full waits: that is the peer not reading.
			MaxPending: s.drive.InFlight + 64, Overflow: engine.OverflowWait,
			OnStray: seen.see,
		},
		Count: s.conns,
		Echo:  echo.Options{Framer: s.framer, Profile: s.profile, MCP: s.mcp, Shape: s.shape, Seed: s.seed},
	}
	if s.drive.End == drive.Cut {
		o.Conn.CloseTimeout = -1
	}
	return target.Open(ctx, s.spec, o)
}

// greet does what the peer expects before it is loaded, and settles what is sent.
func (g *rig) greet(ctx context.Context) (err error) {
	if g.settings.mcp {
		for _, c := range g.t.Conns {
			if g.session, err = target.Shake(ctx, c, g.settings.greet); err != nil {
				return err
			}
		}
	}
	for _, c := range g.t.Conns {
		if err := play(ctx, c, g.prelude); err != nil {
			return err
		}
	}
	if g.mix, err = g.settings.mix(g.session.Meta); err != nil {
		return err
	}
	for _, e := range g.mix.Entries() {
		if !e.Tool {
			continue
		}
		// One call ahead of the load: a wrong tool is said once, not a million times.
		result, err := g.t.Conns[0].Call(ctx, e.Method, e.Payload.Params(0), conn.CallOptions{})
		if err == nil && target.ToolFailed(result) {
			err = fmt.Errorf("the tool failed: %s", result)
		}
		if err != nil {
			return fmt.Errorf("tools/call %s, once before the load: %w", e.Name, err)
		}
	}
	return nil
}

// run carries out one run with stages, nil for a closed loop, and returns its
// document beside what it found. An error means that there is no document.
func (g *rig) run(ctx context.Context, stages []plan.Stage, config report.Config, hooks func(*drive.Config)) (*report.Document, *drive.Result, error) {
	var before echo.Counts
	compare := g.t.Echo != nil || g.peerCounters
	if compare {
		opening, cancel := context.WithTimeout(ctx, openTimeout)
		defer cancel()
		var err error
		if before, err = g.t.Counts(opening); err != nil {
			return nil, nil, err
		}
	}
	c := g.drive
	c.Mix, c.Refused, c.Sleep = g.mix, target.ToolFailed, drive.PreciseSleep
	c.Schedule = schedule(stages, c.Warmup)
	if hooks != nil {
		hooks(&c)
	}
	g.strays.forget()
	result, failure := drive.Run(ctx, g.t.Conns, c)
	if result == nil {
		return nil, nil, failure
	}
	var server *echo.Counts
	var unknown string
	if compare {
		server, unknown = g.counts(context.WithoutCancel(ctx), result, before, failure != nil)
	}
	if failure != nil {
		failure = explain(g.t.Conns, failure)
	}
	document, err := report.Build(config, result, server, g.goals, failure)
	if err != nil {
		return nil, result, err
	}
	document.Notes = append(document.Notes, g.strays.notes()...)
	if unknown != "" {
		document.Notes = append(document.Notes, unknown)
	}
	if lost := g.t.Lost(); lost != nil {
		document.Notes = append(document.Notes, fmt.Sprintf("the first call that was lost: %v", lost))
	}
	return document, result, nil
}

// schedule is the plan of the open loop with the warm-up before it, at the rate
// with which the first stage begins; nil for a closed loop.
func schedule(stages []plan.Stage, warmup time.Duration) *plan.Schedule {
	if len(stages) == 0 {
		return nil
	}
	if warmup > 0 {
		stages = append(constant(warmup, stages[0].From), stages...)
	}
	return plan.NewSchedule(stages)
}

// counts reads the server's counters for the run, once what it sent has come. Where
// they cannot be asked it returns nil, and why if the reader should know.
func (g *rig) counts(ctx context.Context, r *drive.Result, before echo.Counts, broken bool) (server *echo.Counts, unknown string) {
	// What a server behind pipe:echo has not read by now, since it is stalling for
	// longer than the run lasted, it reads now: else nothing could be compared.
	g.t.Wake()
	if broken || r.Cut {
		if g.t.Echo == nil {
			return nil, ""
		}
		_ = g.t.Close() // waits for the servers: what they count is final then
		sum := g.t.Echo.Snapshot().Sub(before)
		r.Reread(0)
		return &sum, ""
	}
	asked := g.t.Asked()
	most := countersWait + g.shape.LateBy + max(g.drive.Timeout, 0)
	after, err := g.t.Settled(ctx, most, func(now echo.Counts) bool {
		r.Reread(g.t.Asked() - asked)
		sum := now.Sub(before)
		return len(drive.Audit(r, &sum, false)) == 0
	})
	if err != nil {
		// The question has ended too, so the connections' counters are left as
		// they were before it.
		return nil, fmt.Sprintf("the server's counters are not compared: %v", err)
	}
	sum := after.Sub(before)
	return &sum, ""
}

// explain prefers what a connection says of its end to the error of a call.
func explain(conns []drive.Link, err error) error {
	for _, c := range conns {
		ended := c.Err()
		if ended == nil {
			continue
		}
		if _, ok := errors.AsType[*conn.PeerGone](ended); ok {
			return ended
		}
		return fmt.Errorf("the connection ended: %w", ended)
	}
	return err
}
