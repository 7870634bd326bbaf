package engine

import (
	"strconv"
	"time"

	"github.com/correlator-go/correlator/codec"
)

// Status says how a call stands.
type Status uint8

// The ways a call ends; Pending, the zero value, is the one that has not.
const (
	Pending   Status = iota // registered, not settled
	Resolved                // the peer answered with a result
	Rejected                // the peer answered with an error
	Cancelled               // the caller, or its context, gave up
	Expired                 // a deadline passed
	Failed                  // the connection went, or the table was closed
)

var statusNames = [...]string{"pending", "resolved", "rejected", "cancelled", "expired", "failed"}

// String gives the name of s.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "Status(" + strconv.Itoa(int(s)) + ")"
}

// Deadline says which deadline of a call passed.
type Deadline uint8

// The deadlines a call may have; DeadlineNone, the zero value, stands in the
// errors of calls that did not expire.
const (
	DeadlineNone    Deadline = iota
	DeadlineIdle             // no answer and no progress for CallOptions.IdleTimeout
	DeadlineTotal            // no answer for CallOptions.Timeout
	DeadlineContext          // the context's own deadline, when it was the earlier
)

var deadlineNames = [...]string{"no", "idle", "total", "context"}

// String gives the name of d.
func (d Deadline) String() string {
	if int(d) < len(deadlineNames) {
		return deadlineNames[d]
	}
	return "Deadline(" + strconv.Itoa(int(d)) + ")"
}

// Outcome is what a settled call carries.
type Outcome[T any] struct {
	// ID is the call's id.
	ID codec.ID
	// Value is the result of a resolved call, and the zero value otherwise. In a
	// callback it is exactly what Resolve was given, so whoever lends it to
	// Resolve decides how long it lives; everywhere else it has gone through
	// Options.Detach.
	Value T
	// Err is nil exactly when Status is Resolved. For Rejected it is the error
	// given to Reject, as it is; otherwise a *CallError.
	Err error
	// Status says how the call ended.
	Status Status
}

// Settlement is what an observer hears of every call that ended.
type Settlement struct {
	// ID is the call's id.
	ID codec.ID
	// Method is CallOptions.Method.
	Method string
	// Status says how the call ended.
	Status Status
	// Sent reports whether Dispatch marked the call.
	Sent bool
	// Queue is the time from registering to Dispatch; for a call that was not
	// sent, the time to its end.
	Queue time.Duration
	// Elapsed is the time from registering to the end.
	Elapsed time.Duration
	// Err is the bare cause: what Reject, Cancel or FailAll were given. It is nil
	// for Resolved and Expired.
	Err error
}

// Abandonment tells that a call was cancelled or expired, so that the peer may
// be told to stop working on it.
type Abandonment struct {
	// ID is the call's id.
	ID codec.ID
	// Method is CallOptions.Method.
	Method string
	// Status is Cancelled or Expired.
	Status Status
	// Sent reports whether Dispatch marked the call: if not, the peer never
	// heard of it.
	Sent bool
}
