package progress

import "time"

// Policy says how progress moves a client's deadline for a request.
type Policy struct {
	// Timeout is how long the client waits. Zero is no deadline but MaxTotal's.
	Timeout time.Duration
	// ResetOnProgress lets progress begin Timeout anew. Off, progress moves
	// nothing.
	ResetOnProgress bool
	// MaxTotal is the longest that progress can stretch a request, measured from
	// its start. Zero is DefaultMaxTotal.
	MaxTotal time.Duration
}

// Deadline is when a client gives a request up. It has no clock: now comes from
// the caller, as time since any fixed point. It is for one goroutine at a time.
type Deadline struct {
	policy  Policy
	at, cap time.Duration
}

// NewDeadline is the deadline of a request that begins at start. The total cap
// holds from the first, progress or none. Its error is an *OptionError.
func NewDeadline(start time.Duration, p Policy) (*Deadline, error) {
	switch {
	case p.Timeout < 0:
		return nil, &OptionError{Field: "Timeout", Value: int64(p.Timeout)}
	case p.MaxTotal < 0:
		return nil, &OptionError{Field: "MaxTotal", Value: int64(p.MaxTotal)}
	}
	if p.MaxTotal == 0 {
		p.MaxTotal = DefaultMaxTotal
	}
	d := &Deadline{policy: p, cap: later(start, p.MaxTotal)}
	d.at = d.cap
	if p.Timeout > 0 {
		d.at = min(later(start, p.Timeout), d.cap)
	}
	return d, nil
}

// Touch notes progress at now: under ResetOnProgress the deadline becomes
// now+Timeout, but never later than the cap and never earlier than it was.
// Progress that comes at or after the deadline comes too late.
func (d *Deadline) Touch(now time.Duration) {
	if d.policy.ResetOnProgress && d.policy.Timeout > 0 && now < d.at {
		d.at = max(d.at, min(later(now, d.policy.Timeout), d.cap))
	}
}

// At is when the request expires.
func (d *Deadline) At() time.Duration { return d.at }

// Err is nil before the deadline. From it on it is ErrTotalExpired if the total
// maximum is what ended the request, else ErrExpired.
func (d *Deadline) Err(now time.Duration) error {
	switch {
	case now < d.at:
		return nil
	case d.at == d.cap:
		return ErrTotalExpired
	default:
		return ErrExpired
	}
}

// later is at+d without wrapping round.
func later(at, d time.Duration) time.Duration {
	if sum := at + d; sum >= at {
		return sum
	}
	return 1<<63 - 1
}
