package codec

import (
	"errors"
	"fmt"
)

// What a [FrameError] wraps.
var (
	// ErrFrameTooLarge: the frame is longer than the reader's MaxFrame.
	ErrFrameTooLarge = errors.New("codec: frame too large")
	// ErrBadHeader: what announces a frame cannot be read.
	ErrBadHeader = errors.New("codec: bad frame header")
	// ErrEmptyFrame: Seal was given no message; no framing can carry an empty one.
	ErrEmptyFrame = errors.New("codec: empty frame")
)

// ErrConcurrentRead is what a second goroutine gets that calls a [Reader] while
// another one is in a call. Nothing was read, and the first call is not harmed.
var ErrConcurrentRead = errors.New("codec: concurrent read")

// FrameError says why no frame could be cut from the stream.
type FrameError struct {
	// Err is ErrFrameTooLarge, ErrBadHeader or ErrEmptyFrame.
	Err error
	// Problem says more, in English, without bytes of the stream; may be empty.
	Problem string
	// Prefix is the beginning of a frame that was too large, as far as it had
	// been read and at most FramePrefix bytes: enough for [PeekID] to name the
	// call that it answers. It is a copy.
	Prefix []byte
	// Size is the announced length in bytes, 0 where the framing announces none.
	// What does not fit 64 bits is math.MaxUint64.
	Size uint64
	// Fatal says that the stream ends here: the place of the next frame cannot
	// be known. Otherwise the reader goes on behind the frame.
	Fatal bool
}

// FramePrefix is the most that FrameError.Prefix holds, in bytes.
const FramePrefix = 1024

// Error names the problem and the announced size.
func (e *FrameError) Error() string {
	text := e.Err.Error()
	if e.Problem != "" {
		text += ": " + e.Problem
	}
	if e.Size != 0 {
		text += fmt.Sprintf(" (%d bytes announced)", e.Size)
	}
	return text
}

// Unwrap gives Err.
func (e *FrameError) Unwrap() error { return e.Err }

// Recoverable reports whether the stream that gave err goes on: the next call of
// the [Reader] gives the frame behind the bad one. It is false for nil.
func Recoverable(err error) bool {
	if _, ok := errors.AsType[*SyntaxError](err); ok {
		return true
	}
	if e, ok := errors.AsType[*FrameError](err); ok {
		return !e.Fatal
	}
	return errors.Is(err, ErrBatch) || errors.Is(err, ErrConcurrentRead)
}

// tooLarge builds the error for a frame beyond the maximum, begin being what is
// there of it.
func tooLarge(begin []byte, size uint64, fatal bool) *FrameError {
	prefix := append([]byte(nil), begin[:min(len(begin), FramePrefix)]...)
	return &FrameError{Err: ErrFrameTooLarge, Prefix: prefix, Size: size, Fatal: fatal}
}

func badHeader(problem string) *FrameError {
	return &FrameError{Err: ErrBadHeader, Problem: problem, Fatal: true}
}

func emptyFrame() *FrameError { return &FrameError{Err: ErrEmptyFrame} }
