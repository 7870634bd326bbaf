package limit

import "time"

// Options of a gate. Zero is the default that the field names, negative is none.
type Options struct {
	// MaxInFlight is how many calls are past the gate at once. Zero and negative are
	// no bound.
	MaxInFlight int
	// MaxQueued is how many wait, MaxQueuedClient how many of one client. Zero is
	// DefaultMaxQueued and DefaultMaxQueuedClient, negative lets none wait.
	MaxQueued, MaxQueuedClient int
	// QueueWait is how long one waits. Zero is DefaultQueueWait, negative for ever.
	QueueWait time.Duration
}

func (o Options) withDefaults() Options {
	or := func(n *int, def int) {
		switch {
		case *n == 0:
			*n = def
		case *n < 0:
			*n = 0
		}
	}
	or(&o.MaxQueued, DefaultMaxQueued)
	or(&o.MaxQueuedClient, DefaultMaxQueuedClient)
	if o.QueueWait == 0 {
		o.QueueWait = DefaultQueueWait
	}
	return o
}

// Defaults of Options.
const (
	DefaultMaxQueued       = 1 << 14
	DefaultMaxQueuedClient = 1 << 13
	DefaultQueueWait       = 60 * time.Second
)

// Verdict says what becomes of a call at a gate.
type Verdict uint8

// The verdicts.
const (
	// Admitted: it goes on, and leaves the gate when it is over.
	Admitted Verdict = iota
	// Queued: its waiter will be told.
	Queued
	// RefusedFull: the queue is full, or the client's share of it.
	RefusedFull
	// RefusedRate: the client asks too fast.
	RefusedRate
	// RefusedLate: it waited for as long as it may.
	RefusedLate
)

// String gives the name that metrics use.
func (v Verdict) String() string {
	switch v {
	case Admitted:
		return "admitted"
	case Queued:
		return "queued"
	case RefusedFull:
		return "full"
	case RefusedRate:
		return "rate"
	case RefusedLate:
		return "queue_timeout"
	}
	return "unknown"
}

// Waiter is a call that waits at a gate. It is told once: by Enter, or by Refuse with
// one of the refusals and when to come back. Neither may block.
type Waiter interface {
	// Enter says that a place has come free and is the call's, which gives it back by
	// Gate.Leave. waited is how long that took.
	Enter(waited time.Duration)
	// Refuse says that the call waits no longer, and has no place. retryAfter is when to
	// come back; it is above 0.
	Refuse(v Verdict, retryAfter time.Duration)
}
