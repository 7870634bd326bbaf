package progress

import "github.com/correlator-go/correlator/codec"

// Reporter is the right to report on one request. Copies share it. A nil one, and
// a zero one, belong to a request that wants no progress.
type Reporter struct{ sink *Sink }

// Wanted reports whether anybody listens: whether a report can have an effect.
func (r *Reporter) Wanted() bool { return r != nil && r.sink != nil }

// Limits are those of the sink, and zero without one.
func (r *Reporter) Limits() Limits {
	if !r.Wanted() {
		return Limits{}
	}
	return r.sink.limits
}

// Token is the request's progress token, absent without a sink.
func (r *Reporter) Token() codec.ID {
	if !r.Wanted() {
		return codec.ID{}
	}
	return r.sink.context.Token
}

// End ends the right, for all copies: the handler has returned. It may be called
// again and on a nil reporter.
func (r *Reporter) End() {
	if r.Wanted() {
		r.sink.ended.Store(true)
	}
}

// Submit takes an update and the gate, and returns the report for the state's
// owner, to whom the caller brings it. answer gets what the owner replies, once,
// on the owner's goroutine, and must not block; if it comes after the caller has
// stopped waiting it is the answer's business to drop it.
//
// ok is false, and there is nothing to wait for, when there is an error or when
// nobody listens. The package comment has the order of the checks.
func (r *Reporter) Submit(u Update, answer func(error)) (report Report, ok bool, err error) {
	if err := u.check(); err != nil {
		return Report{}, false, err
	}
	if !r.Wanted() {
		return Report{}, false, nil
	}
	s := r.sink
	switch {
	case s.ended.Load():
		return Report{}, false, ErrWrongProcess
	case s.closed.Load():
		return Report{}, false, ErrClosed
	case s.context.cancelled():
		return Report{}, false, ErrCancelled
	}
	if err := u.checkLength(s.limits.MaxMessageBytes); err != nil {
		return Report{}, false, err
	}
	if !s.outstanding.CompareAndSwap(false, true) {
		return Report{}, false, ErrBusy
	}
	return Report{Update: u, reporter: r, sink: s, turn: s.turn.Add(1), answer: answer}, true, nil
}

// Report is an update on its way to the owner of the state. It holds the gate
// until Reply. The zero value is no report.
type Report struct {
	// Update is what was reported.
	Update Update

	reporter *Reporter
	sink     *Sink
	turn     uint64
	answer   func(error)
}

// Reply answers a report, after its notification was written or when it was
// refused: it opens the gate, then calls the answer that Submit was given. Every
// report wants one; a second one does nothing.
func (r Report) Reply(err error) {
	s := r.sink
	if s == nil || !s.turn.CompareAndSwap(r.turn, r.turn+1) {
		return
	}
	s.outstanding.Store(false)
	if r.answer != nil {
		r.answer(err)
	}
}
