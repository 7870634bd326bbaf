package progress

import (
	"errors"
	"strconv"
)

// What a report may come to, besides nil. They come bare or wrapped: use
// errors.Is.
var (
	// ErrInvalidProgress: the value or the total is missing, not a number, or
	// infinite; the message is not UTF-8 or too long.
	ErrInvalidProgress = errors.New("progress: invalid progress")
	// ErrWrongProcess: the caller has no right to report: the handler that the
	// reporter was bound for has returned, or the sink is bound already.
	ErrWrongProcess = errors.New("progress: wrong process: the reporter is not, or no longer, the bound one")
	// ErrClosed: the request was answered, or its connection went.
	ErrClosed = errors.New("progress: closed")
	// ErrCancelled: the request was cancelled.
	ErrCancelled = errors.New("progress: cancelled")
	// ErrBusy: the last report of the request was not answered yet.
	ErrBusy = errors.New("progress: busy: a report is under way")
	// ErrTimeout: no answer within Limits.Timeout. Whether the report was or will
	// be written is not known; the next one needs a larger value, and is
	// ErrBusy until the transport has dealt with this one.
	ErrTimeout = errors.New("progress: timed out, delivery unknown")

	// ErrInvalidReport: what Accept was given is no report.
	ErrInvalidReport = errors.New("progress: invalid report")
	// ErrWrongSink: the report belongs to another request, was not made by the
	// bound reporter, or the state is not its sink's.
	ErrWrongSink = errors.New("progress: wrong sink")
	// ErrNotIncreasing: the value is not above the last one accepted, or the
	// first one is below zero and Limits.AllowNegative is not set.
	ErrNotIncreasing = errors.New("progress: not increasing")
	// ErrLimitReached: Limits.MaxUpdates reports were accepted.
	ErrLimitReached = errors.New("progress: limit reached")
	// ErrInvalidNotification: no notification could be made of the report.
	ErrInvalidNotification = errors.New("progress: invalid notification")
)

// What a [Deadline] may come to.
var (
	// ErrExpired: nothing was heard for the request's timeout.
	ErrExpired = errors.New("progress: request timed out")
	// ErrTotalExpired: progress came, but the request reached its total maximum.
	ErrTotalExpired = errors.New("progress: request reached its total timeout")
)

// OptionError says which field NewSink or NewDeadline refused.
type OptionError struct {
	// Field is the field's name.
	Field string
	// Value is what stood there.
	Value int64
}

// Error names the field and the value.
func (e *OptionError) Error() string {
	return "progress: " + e.Field + " must not be negative, got " + strconv.FormatInt(e.Value, 10)
}
