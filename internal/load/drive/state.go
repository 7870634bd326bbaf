package drive

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/internal/load/plan"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// state is what the parts of one run share. Times are since start, unless they
// are said to be the run's own, which stands still during a pause.
type state struct {
	Config
	links   links
	start   time.Time
	clock   clock
	entries []plan.Entry
	tally   *tally.Tally
	call    conn.CallOptions
	timer   *time.Timer // of whoever sends
	// length is when an open loop's time is up, in the run's own time: at the end of
	// its schedule or of Duration, whichever comes first.
	length time.Duration
	before conn.Stats // when the run began

	// Sums over the whole run, warm-up included, except where they say so.
	// Written by whoever sends and records, read by the sampler.
	planned, sent, settled, dropped atomic.Int64
	behind, held                    atomic.Int64 // held: the part of behind that waited for room
	measuredPlanned, measuredSent   atomic.Int64 // those after the warm-up
	answered                        atomic.Int64 // settled with an answer, after the warm-up
	unsent                          atomic.Int64 // ended before they were written
	cut                             atomic.Bool  // we closed the connections
	stopped                         atomic.Bool  // Control.Stop

	// began is the reading with which the measured part began, nil before it. Whoever
	// notices the end of the warm-up takes it, which beginning makes one.
	began     atomic.Pointer[meter]
	beginning sync.Once

	// Set by whoever sends, read after the run.
	finish           *meter // when the sending was over
	answeredByFinish int64
	atFinish         int64 // calls in flight then
}

func (s *state) now() time.Duration { return time.Since(s.start) }

// own is the run's own time.
func (s *state) own() time.Duration { return s.clock.own(s.now()) }

func (s *state) gauges() tally.Gauges {
	settled := s.settled.Load() // first: a difference below 0 would be worse than one too large
	sent := s.sent.Load()
	return tally.Gauges{
		Sent: sent, Behind: s.behind.Load(), Dropped: s.dropped.Load(), InFlight: int(sent - settled),
		Late: int64(s.links.stats().Calls.Late - s.before.Calls.Late),
	}
}

// countSent counts accepted calls, n of them after the warm-up.
func (s *state) countSent(all, measured int64) {
	s.sent.Add(all)
	s.measuredSent.Add(measured)
}

// record counts settled calls.
func (s *state) record(shard *tally.Shard, samples []tally.Sample) {
	shard.Record(samples...)
	var answered int64
	for i := range samples {
		if x := &samples[i]; !x.Warm && x.Kind <= tally.Rejected {
			answered++
		}
	}
	s.answered.Add(answered)
	s.settled.Add(int64(len(samples)))
}

// measuring notes that the measured part has begun, if own, the run's own time, says
// so. Whoever sends asks before it sends more: where the whole process stood still
// across the end of the warm-up, nothing of what is measured comes before it.
func (s *state) measuring(own time.Duration) bool {
	if own < s.Warmup {
		return false
	}
	if s.began.Load() == nil {
		s.beginning.Do(func() { s.began.Store(s.read()) })
	}
	return true
}

// stopSending notes when the sending was over. A second call moves that time.
func (s *state) stopSending() {
	s.measuring(s.own()) // before finish is read, whose difference to it is the cost
	if s.finish == nil {
		s.atFinish = s.sent.Load() - s.settled.Load()
	}
	s.answeredByFinish = s.answered.Load()
	s.finish = s.read()
}

// isBehind counts a call of an open loop that was due then and sent now, if it is
// behind. held says that it had to wait for room, or for the peer to read.
func (s *state) isBehind(due, now time.Duration, held bool) {
	if now-due <= BehindAfter {
		return
	}
	s.behind.Add(1)
	if held {
		s.held.Add(1)
	}
}

// kindOf says what became of a call of a kind of request. value is read only when
// it was resolved, err only when it had no answer.
func (s *state) kindOf(status engine.Status, entry uint16, value []byte, err error) tally.Kind {
	switch status {
	case engine.Resolved:
		if s.Refused != nil && s.entries[entry].Tool && s.Refused(value) {
			return tally.Rejected
		}
		return tally.OK
	case engine.Rejected:
		return tally.Rejected
	}
	if reached, known := conn.Sent(err); known && !reached {
		s.unsent.Add(1)
	}
	switch status {
	case engine.Expired:
		return tally.TimedOut
	case engine.Cancelled:
		return tally.Cancelled
	}
	if s.cut.Load() {
		return tally.Cancelled
	}
	return tally.Lost
}

// statusOf is what Call's error says.
func statusOf(err error) engine.Status {
	if err == nil {
		return engine.Resolved
	}
	if _, ok := errors.AsType[*codec.Error](err); ok {
		return engine.Rejected
	}
	if e, ok := errors.AsType[*engine.CallError](err); ok {
		return e.Status
	}
	return engine.Failed
}

// over reports whether the sending must end: by time, by ctx, or since it was told
// to. own is the run's own time.
func (s *state) over(ctx context.Context, own time.Duration) bool {
	return ctx.Err() != nil || s.Duration > 0 && own >= s.Warmup+s.Duration || s.stopped.Load()
}

// counted reports whether Requests have been planned, if they end the sending.
func (s *state) counted() bool { return s.Requests > 0 && s.measuredPlanned.Load() >= s.Requests }

// steer does what the Control asks for, and reports whether the run is paused. It
// is for whoever sends.
func (s *state) steer() (paused bool) {
	if s.Control == nil {
		return false
	}
	asked, now := s.Control.Steering(), s.now()
	events, scale := s.clock.steer(now, asked)
	if scale != 1 && s.Schedule != nil {
		s.Schedule.Scale(s.clock.own(now), scale)
	}
	if asked.Stopped && !s.stopped.Load() {
		// The time is up now: what would have been due later is not.
		s.length = min(s.length, s.clock.own(now))
		s.stopped.Store(true)
	}
	if s.OnEvent != nil {
		for _, e := range events {
			s.OnEvent(e)
		}
	}
	return asked.Paused
}

// steered is told when the Control has changed; nil, which never is, without one.
func (s *state) steered() <-chan struct{} {
	if s.Control == nil {
		return nil
	}
	return s.Control.signal()
}

// closeNow cuts the connections, so that every call in flight ends.
func (s *state) closeNow() {
	s.cut.Store(true)
	s.links.close()
}
