package engine

import "time"

// Clock is where an engine takes its time from. Now never steps back; a clock
// that stops while the host sleeps makes deadlines wait for it. Both methods are
// safe for concurrent use.
type Clock interface {
	// Now is the time since some fixed moment.
	Now() time.Duration
	// AfterFunc calls f, once, in d or later, on a goroutine of its own choice but
	// never before AfterFunc returned.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is a pending call of the function given to [Clock.AfterFunc], with the
// semantics of time.Timer.
type Timer interface {
	// Reset makes the function run in d from now, whether or not it ran before,
	// and reports whether it was pending.
	Reset(d time.Duration) bool
	// Stop takes the pending run back and reports whether there was one.
	Stop() bool
}

// SystemClock is the monotonic clock of the system: steps of the wall clock do
// not move it.
func SystemClock() Clock { return systemClock{} }

type systemClock struct{}

var systemStart = time.Now()

func (systemClock) Now() time.Duration { return time.Since(systemStart) }

func (systemClock) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }
