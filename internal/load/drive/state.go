package drive

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// state is what the parts of one run share.
type state struct {
	Config
	conn  *conn.Conn
	start time.Time
	tally *tally.Tally
	call  conn.CallOptions
	timer *time.Timer // of whoever sends
	// length is when an open loop's time is up: at the end of its schedule or of
	// Duration, whichever comes first.
	length time.Duration

	// Sums over the whole run, warm-up included, except where they say so.
	// Written by whoever sends and records, read by the sampler.
	planned, sent, settled, dropped atomic.Int64
	behind, held                    atomic.Int64 // held: the part of behind that waited for room
	measuredPlanned, measuredSent   atomic.Int64 // those after the warm-up
	answered                        atomic.Int64 // settled with an answer, after the warm-up
	cut                             atomic.Bool  // we closed the connection

	// Set by whoever sends, read after the run.
	finish           *meter // when the sending was over
	answeredByFinish int64
}

func (s *state) now() time.Duration { return time.Since(s.start) }

func (s *state) gauges() tally.Gauges {
	settled := s.settled.Load() // first: a difference below 0 would be worse than one too large
	sent := s.sent.Load()
	return tally.Gauges{Sent: sent, Behind: s.behind.Load(), Dropped: s.dropped.Load(), InFlight: int(sent - settled)}
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

// stopSending notes when the sending was over.
func (s *state) stopSending() {
	s.answeredByFinish = s.answered.Load()
	s.finish = s.read()
}

// isBehind counts a call planned then and sent now that is too late. fullUntil
// is the last time at which there was no room for another call.
func (s *state) isBehind(planned, now, fullUntil time.Duration) {
	if s.Schedule == nil || now-planned <= BehindAfter {
		return
	}
	s.behind.Add(1)
	if planned < fullUntil {
		s.held.Add(1)
	}
}

// kindOf says what became of a call. value is read only when it was resolved.
func (s *state) kindOf(status engine.Status, value []byte) tally.Kind {
	switch status {
	case engine.Resolved:
		if s.Refused != nil && s.Refused(value) {
			return tally.Rejected
		}
		return tally.OK
	case engine.Rejected:
		return tally.Rejected
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

// over reports whether the sending must end: by time, by number, or by ctx.
func (s *state) over(ctx context.Context, now time.Duration) bool {
	return ctx.Err() != nil || s.Duration > 0 && now >= s.Warmup+s.Duration || s.counted()
}

// counted reports whether Requests have been planned, if they end the sending.
func (s *state) counted() bool { return s.Requests > 0 && s.measuredPlanned.Load() >= s.Requests }

// closeNow cuts the connection, so that every call in flight ends.
func (s *state) closeNow() {
	s.cut.Store(true)
	_ = s.conn.Close() // what it says is in the connection's Err
}
