package progress

import (
	"fmt"

	"github.com/correlator-go/correlator/codec"
)

// State is what the owner of a request remembers of its progress: the last value
// accepted, and how many. Its methods are for one goroutine at a time. It must not
// be copied.
type State struct {
	sink     *Sink
	last     Number
	accepted int
}

// State is the state that takes the sink's reports. The first caller is their
// owner; the states of later ones accept nothing.
func (s *Sink) State() *State {
	st := &State{sink: s}
	s.owner.CompareAndSwap(nil, st)
	return st
}

// Last is the last value accepted, no number before the first.
func (st *State) Last() Number { return st.last }

// Accepted is how many reports were accepted.
func (st *State) Accepted() int { return st.accepted }

// Accept takes a report and appends its notification to dst, which is returned as
// it was when the report is refused. The caller writes it and then replies; after
// a refusal it replies with the error. The package comment has the order of the
// checks.
func (st *State) Accept(dst []byte, r Report) ([]byte, error) {
	if r.sink == nil || r.reporter == nil {
		return dst, ErrInvalidReport
	}
	s := st.sink
	if s == nil || r.sink != s || r.reporter.sink != s || s.owner.Load() != st || s.turn.Load() != r.turn {
		return dst, ErrWrongSink
	}
	switch {
	case s.closed.Load():
		return dst, ErrClosed
	case s.context.cancelled():
		return dst, ErrCancelled
	}
	u := r.Update
	if err := u.check(); err != nil {
		return dst, err
	}
	if err := u.checkLength(s.limits.MaxMessageBytes); err != nil {
		return dst, err
	}
	if !st.rises(u.Progress) {
		return dst, fmt.Errorf("%w: %v after %v", ErrNotIncreasing, u.Progress, st.last)
	}
	if st.accepted >= s.limits.MaxUpdates {
		return dst, fmt.Errorf("%w: %d reports", ErrLimitReached, st.accepted)
	}
	frame, err := s.shape(dst, u)
	if err != nil {
		return dst, err
	}
	st.last = u.Progress
	st.accepted++
	return frame, nil
}

func (st *State) rises(n Number) bool {
	if st.last.IsZero() {
		return st.sink.limits.AllowNegative || n.Compare(Int(0)) >= 0
	}
	return n.Compare(st.last) > 0
}

// shape makes the notification, and sees to it that it is one.
func (s *Sink) shape(dst []byte, u Update) ([]byte, error) {
	frame, err := s.context.Shape(dst, s.context.Token, u)
	if err != nil {
		return dst, fmt.Errorf("%w: %w", ErrInvalidNotification, err)
	}
	if len(frame) < len(dst) {
		return dst, fmt.Errorf("%w: nothing was appended", ErrInvalidNotification)
	}
	var e codec.Envelope
	if err := codec.Scan(frame[len(dst):], &e, codec.ScanOptions{}); err != nil {
		return dst, fmt.Errorf("%w: %w", ErrInvalidNotification, err)
	}
	if e.Kind != codec.KindNotification {
		return dst, fmt.Errorf("%w: it is a %v", ErrInvalidNotification, e.Kind)
	}
	return frame, nil
}
