package serve

import (
	"errors"
	"fmt"
	"strconv"
)

// Conditions to branch on, with errors.Is.
var (
	// ErrStopped: the connection was closed; nothing is taken any more.
	ErrStopped = errors.New("serve: stopped")
	// ErrTooManyLive: Options.MaxLive exchanges are live.
	ErrTooManyLive = errors.New("serve: too many live exchanges")
	// ErrFrameTooLarge: the frame is above Options.MaxFrame.
	ErrFrameTooLarge = errors.New("serve: frame too large")
	// ErrFrameTooDeep: the frame is nested above Options.MaxDepth.
	ErrFrameTooDeep = errors.New("serve: frame nested too deep")
	// ErrDuplicateID: a request with this id is in flight on the connection.
	ErrDuplicateID = errors.New("serve: id already in flight")
	// ErrStalled: the peer took no byte for Options.WriteTimeout.
	ErrStalled = errors.New("serve: the peer does not read")
	// ErrSlowSubscriber: more events wait for a subscriber than
	// Options.MaxEvents.
	ErrSlowSubscriber = errors.New("serve: subscriber too slow")
	// ErrBroken: a rule of visibility panicked where no request could be answered
	// for it.
	ErrBroken = errors.New("serve: connection broken by a panic")
	// ErrExchangeClosed: nothing can be written to the exchange any more.
	ErrExchangeClosed = errors.New("serve: exchange closed")
)

// LimitError says which limit refused a frame. It unwraps to ErrFrameTooLarge,
// ErrFrameTooDeep or ErrTooManyLive.
type LimitError struct {
	// Err is the sentinel.
	Err error
	// Have is the frame's size in bytes or the exchanges that are live; 0 for a
	// depth, which is not measured beyond the limit.
	Have int
	// Limit is the option's value.
	Limit int
}

// Error names the condition and the numbers.
func (e *LimitError) Error() string {
	if e.Have == 0 {
		return fmt.Sprintf("%v: the limit is %d", e.Err, e.Limit)
	}
	return fmt.Sprintf("%v: %d, the limit is %d", e.Err, e.Have, e.Limit)
}

// Unwrap gives Err.
func (e *LimitError) Unwrap() error { return e.Err }

// OptionError says which option was refused. Nothing was started.
type OptionError struct {
	// Field is the option's name.
	Field string
	// Value is what stood there.
	Value int64
}

// Error names the option and its value.
func (e *OptionError) Error() string {
	return "serve: option " + e.Field + " must not be " + strconv.FormatInt(e.Value, 10)
}
