package engine

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/correlator-go/correlator/codec"
)

// Conditions to branch on, with errors.Is. The first three are what a
// [CallError] is; the others come bare.
var (
	// ErrTimeout: a deadline of the call passed. context.DeadlineExceeded matches
	// the same errors.
	ErrTimeout = errors.New("engine: timed out")
	// ErrCancelled: the call was cancelled, by Cancel or by the end of the context
	// given to Wait.
	ErrCancelled = errors.New("engine: cancelled")
	// ErrClosed: the table was closed before the call was answered. The error
	// unwraps to the stored failure.
	ErrClosed = errors.New("engine: closed")

	// ErrFull: MaxPending calls are pending.
	ErrFull = errors.New("engine: too many pending calls")
	// ErrDuplicateID: a call with this id is pending. That call is untouched.
	ErrDuplicateID = errors.New("engine: id already in flight")
	// ErrIDsExhausted: every id that fits in 52 bits was minted.
	ErrIDsExhausted = errors.New("engine: ids exhausted")
	// ErrAbsentID: the absent id names no call.
	ErrAbsentID = errors.New("engine: absent id")
	// ErrUnknownID: an engine that mints its ids registers only what NextID gave,
	// once.
	ErrUnknownID = errors.New("engine: id was not given by NextID")
	// ErrConsumed: the outcome was taken before, or belongs to another Wait, to a
	// callback or to nobody.
	ErrConsumed = errors.New("engine: outcome already consumed")
)

// CallError is the error of a call that ended without an answer: expired,
// cancelled or failed.
type CallError struct {
	// ID is the call's id.
	ID codec.ID
	// Method is CallOptions.Method.
	Method string
	// Err is what Cancel or FailAll were given, or the cause of the context's end;
	// it may be nil.
	Err error
	// Elapsed is the time from registering to the end.
	Elapsed time.Duration
	// Budget is the timeout that ran out, for Expired; else 0.
	Budget time.Duration
	// Deadline says which deadline ran out, for Expired; else DeadlineNone.
	Deadline Deadline
	// Status is Cancelled, Expired or Failed.
	Status Status
	// Sent reports whether Dispatch marked the call before it ended. If not, the
	// peer never saw it and it is safe to try again.
	Sent bool

	closed bool
}

// Error tells the call, its end and whether it was sent.
func (e *CallError) Error() string {
	if e.ID.IsAbsent() {
		return e.unregistered()
	}
	var b strings.Builder
	b.WriteString("engine: call ")
	b.WriteString(e.ID.String())
	if e.Method != "" {
		b.WriteString(" (" + e.Method + ")")
	}
	switch e.Status {
	case Expired:
		b.WriteString(" timed out: " + e.Deadline.String() + " deadline of " + e.Budget.String())
	default:
		b.WriteString(" " + e.Status.String() + " after " + e.Elapsed.String())
	}
	if e.Sent {
		b.WriteString(", sent")
	} else {
		b.WriteString(", not sent")
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// unregistered is the text for a call that came too late, or found no room: it never
// got an id.
func (e *CallError) unregistered() string {
	text := "engine: call"
	if e.Method != "" {
		text += " of " + e.Method
	}
	text += " was never registered"
	switch e.Status {
	case Expired:
		text += ", its deadline passed"
	case Cancelled:
		text += ", it was cancelled"
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives Err.
func (e *CallError) Unwrap() error { return e.Err }

// Is matches ErrTimeout and context.DeadlineExceeded when the call expired,
// ErrCancelled when it was cancelled, and ErrClosed when the table was closed.
func (e *CallError) Is(target error) bool {
	switch target {
	case ErrTimeout, context.DeadlineExceeded:
		return e.Status == Expired
	case ErrCancelled:
		return e.Status == Cancelled
	case ErrClosed:
		return e.closed
	}
	return false
}

// Timeout reports whether the call expired, as net.Error has it.
func (e *CallError) Timeout() bool { return e.Status == Expired }

// Sent tells of an error that a call gave whether the request had been handed to
// the peer, and whether that is known at all. A call that was not sent is safe to
// try again; a peer's own error proves that it was sent.
func Sent(err error) (sent, known bool) {
	if call, ok := errors.AsType[*CallError](err); ok {
		return call.Sent, true
	}
	if _, ok := errors.AsType[*codec.Error](err); ok {
		return true, true
	}
	for _, refused := range []error{ErrFull, ErrDuplicateID, ErrIDsExhausted, ErrAbsentID, ErrUnknownID} {
		if errors.Is(err, refused) {
			return false, true
		}
	}
	return false, false
}
