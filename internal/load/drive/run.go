package drive

import (
	"context"
	"runtime"
	"time"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/load/plan"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// Result is what a run found.
type Result struct {
	Began time.Time
	// Warmup, Sending and Elapsed are the time until the measuring began, from
	// there until the sending was over, and from the beginning until nothing was
	// in flight. Pauses, whose sum until the sending was over is Paused, are in
	// Elapsed only.
	Warmup, Sending, Elapsed, Paused time.Duration

	asking time.Duration // that MeasuredPlanned was planned for, if not Sending

	Planned int64 // requests that were due, dropped ones among them
	Sent    int64 // calls that the connections took
	Dropped int64 // due and not sent, for want of room, or of time at the end
	Behind  int64 // sent more than BehindAfter after they were due
	Held    int64 // those of them that waited for room, or for the peer to read
	Unsent  int64 // calls that ended before they were written, so that the peer never saw them
	// MeasuredPlanned and MeasuredSent are those after the warm-up.
	MeasuredPlanned, MeasuredSent int64
	AtFinish                      int64 // calls in flight when the sending was over
	InFlight                      int64 // at the end: 0 unless something is wrong
	Cut                           bool  // calls in flight at the end were cut, as asked or on an interruption
	Interrupted                   bool  // ctx ended the run

	Total tally.Total
	Rows  []tally.Row
	// Connections and Entries are the measured calls of each connection, and of
	// each entry of Mix; nil where there is one.
	Connections, Entries []tally.Part
	Mix                  *plan.Mix
	// Rate and Offered are the calls answered and sent per second of Sending.
	Rate, Offered float64
	Cost          Cost
	// Events are what Config.Control did, Steering what held at the end.
	Events   []Event
	Steering Steering
	// Stats are the connections' counters, what was before the run taken off
	// where the audit reads them.
	Stats  conn.Stats
	links  links
	before conn.Stats
}

// Reread takes the connections' counters anew, for what came after the run: late
// answers, and cancels on their way. extra is the number of calls, all of them
// resolved, that the caller made since.
func (r *Result) Reread(extra int64) {
	r.Stats = statsSince(r.links.stats(), r.before)
	r.Stats.Calls.Registered -= uint64(extra)
	r.Stats.Calls.Resolved -= uint64(extra)
}

// Ends sums the warm-up's and the measured calls.
func (r *Result) Ends() tally.Ends { return r.Total.Measured.Add(r.Total.Warm) }

// Asked is the planned requests per second of the schedule, whose length does
// not depend on how the sending kept up; of Sending where the run ended before its
// schedule. For a closed loop it has no meaning and is the same as Offered.
func (r *Result) Asked() float64 {
	if r.asking > 0 {
		return perSecond(r.MeasuredPlanned, r.asking)
	}
	return perSecond(r.MeasuredPlanned, r.Sending)
}

// Run carries out c over connections, which it closes only when it cuts. The
// result is whole even beside an error, which is that of a connection: it ended
// before the run did, and the run with it. When ctx ends, the sending stops and
// the calls in flight are cut.
func Run[L Link](ctx context.Context, connections []L, c Config) (*Result, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if len(connections) == 0 || len(connections) > min(c.InFlight, LinksMax) {
		return nil, errLinks
	}
	s := &state{
		Config: c, links: linked(connections), start: time.Now(), entries: c.Mix.Entries(),
		tally: tally.New(min(runtime.GOMAXPROCS(0), c.InFlight)),
		call:  conn.CallOptions{Timeout: c.Timeout},
	}
	s.tally.Split(len(connections), len(s.entries))
	if c.Histograms {
		s.tally.KeepHistograms()
	}
	if c.Progress {
		s.call.Progress = func(conn.Progress) {} // counted by the connection
	}
	if c.Schedule != nil {
		s.length = c.Schedule.Length()
		if c.Duration > 0 {
			s.length = min(s.length, c.Warmup+c.Duration)
		}
	}
	s.before = s.links.stats()
	sampler := startSampler(s)
	if c.Mode == Blocking {
		err = newCallers(s).run(ctx)
	} else {
		err = newPump(s).run(ctx)
	}
	if c.Requests > 0 && s.finish.own < c.Warmup+c.Duration {
		s.stopSending() // the number ended it: the last answers belong to it
	}
	sampler.stop()
	if gone := s.links.err(); gone != nil && !s.cut.Load() {
		err = gone
	}
	return s.result(ctx, sampler), err
}

func (s *state) result(ctx context.Context, m *sampler) *Result {
	r := &Result{
		Began: s.start, Warmup: s.Warmup, Elapsed: s.now(), Paused: s.finish.at - s.finish.own,
		Planned: s.planned.Load(), Sent: s.sent.Load(), Dropped: s.dropped.Load(), Behind: s.behind.Load(), Held: s.held.Load(), Unsent: s.unsent.Load(),
		MeasuredPlanned: s.measuredPlanned.Load(), MeasuredSent: s.measuredSent.Load(),
		AtFinish: s.atFinish, InFlight: s.sent.Load() - s.settled.Load(), Cut: s.cut.Load(), Interrupted: ctx.Err() != nil,
		Total: s.tally.Total(), Rows: m.rows, Connections: s.tally.Connections(), Entries: s.tally.Entries(), Mix: s.Mix,
		Stats: statsSince(s.links.stats(), s.before), links: s.links, before: s.before,
	}
	r.Events, r.Steering = s.clock.history()
	if began := s.began.Load(); began != nil && s.finish.own > s.Warmup {
		r.Sending = s.finish.own - s.Warmup
		if s.Schedule != nil && s.length > s.Warmup && s.finish.own > s.length {
			r.asking = s.length - s.Warmup
		}
		r.Rate = perSecond(s.answeredByFinish, r.Sending)
		r.Offered = perSecond(r.MeasuredSent, r.Sending)
		r.Cost = s.finish.since(began)
	}
	return r
}

func perSecond(n int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}
