package conn

import (
	"context"
	"errors"

	"github.com/correlator-go/correlator/engine"
)

// The errors that a failed call can be told by, with errors.Is. Beside them a
// call fails with the peer's own *codec.Error.
var (
	// ErrTimeout: no answer in time. It is also context.DeadlineExceeded.
	ErrTimeout = engine.ErrTimeout
	// ErrCancelled: the caller gave up.
	ErrCancelled = engine.ErrCancelled
	// ErrClosed: the connection is closed or broke. The error unwraps to why:
	// *PeerGone, io.EOF, io.ErrUnexpectedEOF, *codec.FrameError, *PeerSilent, a
	// write error.
	ErrClosed = engine.ErrClosed
	// ErrFull: MaxPending, WriteBuffer or a Redialer's MaxWaiting is used up and
	// the caller does not wait; the text says which. Nothing was sent.
	ErrFull = engine.ErrFull
	// ErrTooLarge: method and params are above MaxFrameOut. Nothing was sent.
	ErrTooLarge = errors.New("conn: frame too large to send")
	// ErrDraining: Drain was called, so nothing new is taken. Nothing was sent.
	ErrDraining = errors.New("conn: draining")
	// ErrAnswered: the request was answered before, was cancelled, or is a
	// notification.
	ErrAnswered = errors.New("conn: nothing to answer: request answered or cancelled")
	// ErrSlowSubscriber ends a subscription whose consumer fell behind; see
	// SlowEnd.
	ErrSlowSubscriber = errors.New("conn: subscriber too slow")
	// ErrSubscriptionEnded: the peer withdrew a subscription by cancelling its
	// listen request.
	ErrSubscriptionEnded = errors.New("conn: subscription ended by the peer")
	// ErrHandshake: initialize expired or was cancelled, which ends the
	// connection, since initialize must not be cancelled at the peer.
	ErrHandshake = errors.New("conn: initialize was not answered")
	// ErrInvalidAnswer: the answer of the call could not be read. The error
	// unwraps to the *codec.SyntaxError or *codec.FrameError that says why.
	ErrInvalidAnswer = errors.New("conn: invalid answer")
)

// usedUp is the ErrFull of a bound that is not the table's, which it names.
type usedUp string

const (
	bufferFull  usedUp = "conn: no room in the write buffer"
	waitingFull usedUp = "conn: too many calls wait for a connection"
)

func (u usedUp) Error() string      { return string(u) }
func (usedUp) Is(target error) bool { return target == ErrFull }

// OptionError says which option New refused, and why.
type OptionError = engine.OptionError

// Sent reports whether the request behind a failed call was handed to the
// stream, and whether that is known. A request that was not sent is safe to
// retry; one that was may have taken effect.
func Sent(err error) (sent, known bool) {
	if _, ok := errors.AsType[*invalidAnswer](err); ok {
		return true, true
	}
	return engine.Sent(err)
}

// leftBefore is the failure of a call whose ctx had ended when it was made.
func leftBefore(ctx context.Context, method string) error {
	e := &engine.CallError{Method: method, Status: engine.Cancelled, Err: context.Cause(ctx)}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Status, e.Deadline = engine.Expired, engine.DeadlineContext
	}
	return e
}

// unsent is the failure of a call that was never queued.
func unsent(method string, err error) error {
	return &engine.CallError{Method: method, Status: engine.Failed, Err: err}
}

// invalidAnswer is what a call fails with whose answer came but could not be
// read.
type invalidAnswer struct{ err error }

func (e *invalidAnswer) Error() string        { return ErrInvalidAnswer.Error() + ": " + e.err.Error() }
func (e *invalidAnswer) Unwrap() error        { return e.err }
func (e *invalidAnswer) Is(target error) bool { return target == ErrInvalidAnswer }
