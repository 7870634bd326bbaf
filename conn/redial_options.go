package conn

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/correlator-go/correlator/engine"
)

// Limits of a Redialer, used where RedialOptions says nothing.
const (
	// DefaultDialTimeout bounds one dial, OnConnect included.
	DefaultDialTimeout = 30 * time.Second
	// DefaultWaitTimeout bounds the wait of a call that brings no timeout.
	DefaultWaitTimeout = 60 * time.Second
	// DefaultMaxWaiting is how many calls may wait for a connection.
	DefaultMaxWaiting = 1 << 16
	// DefaultBackoffMin is the pause after the first failed dial.
	DefaultBackoffMin = 100 * time.Millisecond
	// DefaultBackoffMax is the longest pause.
	DefaultBackoffMax = 30 * time.Second
	// DefaultBackoffStable is how long a connection lasts to start the pauses
	// anew.
	DefaultBackoffStable = 10 * time.Second
)

// RedialOptions configures a Redialer. In durations and counts zero is the
// default.
type RedialOptions struct {
	// Dial makes one connection: with the package's Dial or Spawn, or over a
	// stream of your own. It should return soon after ctx ends. Required.
	Dial func(ctx context.Context) (*Conn, error)
	// OnConnect runs after each dial and before any waiting call, for
	// handshakes such as initialize; its own calls go to c. An error closes c
	// and counts as a failed dial.
	OnConnect func(ctx context.Context, c *Conn) error
	// OnDown runs once for each connection that OnConnect let through, when it
	// was cut off, with Conn.Err: its pending calls have failed or are failing.
	// The next dial waits until it returns. Both hooks run on the Redialer's
	// goroutine.
	OnDown func(err error)
	// OnPanic gets what Dial, OnConnect or OnDown panicked with, and its stack.
	// The panic ends only what it happened in: a dial or a handshake has failed
	// with an error that names it. Nil drops it.
	OnPanic func(v any, stack []byte)

	// Attempts is how many dials in a row must fail before waiting calls fail
	// with *DialError; every further failed dial then fails those that wait
	// at that time. Zero is 1 until there was a connection, so that a wrong
	// address shows at once, and no limit from then on, so that calls outlast
	// a restart of the peer. Negative is no limit at all: calls wait as long
	// as their own timeout and ctx allow.
	Attempts int
	// OnDemand leaves a lost connection lost until a call wants one. Else the
	// Redialer dials again by itself, for ever.
	OnDemand bool

	// Backoff is the pause before a dial that follows a failed dial or a
	// short-lived connection.
	Backoff Backoff
	// DialTimeout bounds one dial, OnConnect included. Negative is none.
	DialTimeout time.Duration
	// WaitTimeout bounds the wait of calls that bring no timeout of their
	// own. Negative is none.
	WaitTimeout time.Duration
	// MaxWaiting is how many calls may wait for a connection; further ones
	// fail with ErrFull. Negative is no limit.
	MaxWaiting int

	// Clock is the time of all these limits; nil is the system's.
	Clock engine.Clock
	// Random gives numbers in [0, 1) for the jitter, from one goroutine; nil
	// is math/rand/v2.
	Random func() float64
}

// Backoff is how long a Redialer pauses between dials: Min, doubled with each
// further failure up to Max, of which one half is fixed and the other drawn at
// random, so that many clients do not dial in step.
type Backoff struct {
	// Min is the first pause: zero is DefaultBackoffMin, negative none at all.
	Min time.Duration
	// Max is the longest: zero is DefaultBackoffMax. Below Min it is Min.
	Max time.Duration
	// Stable is how long a connection must last for its loss to cause no
	// pause: zero is DefaultBackoffStable, negative any time.
	Stable time.Duration
}

// delay is the pause after n failures in a row.
func (b Backoff) delay(n int, random func() float64) time.Duration {
	if n == 0 || b.Min == 0 {
		return 0
	}
	d := b.Max
	if shift := n - 1; shift < 62 && b.Min <= b.Max>>shift {
		d = b.Min << shift
	}
	return d/2 + time.Duration(random()*float64(d-d/2))
}

func (o RedialOptions) withDefaults() (RedialOptions, error) {
	if o.Dial == nil {
		return o, &OptionError{Field: "Dial", Problem: "is required"}
	}
	o.DialTimeout = durationOr(o.DialTimeout, DefaultDialTimeout)
	if o.WaitTimeout == 0 {
		o.WaitTimeout = DefaultWaitTimeout
	}
	switch {
	case o.MaxWaiting == 0:
		o.MaxWaiting = DefaultMaxWaiting
	case o.MaxWaiting < 0:
		o.MaxWaiting = int(^uint(0) >> 1)
	}
	o.Backoff.Min = durationOr(o.Backoff.Min, DefaultBackoffMin)
	o.Backoff.Max = max(durationOr(o.Backoff.Max, DefaultBackoffMax), o.Backoff.Min)
	o.Backoff.Stable = durationOr(o.Backoff.Stable, DefaultBackoffStable)
	if o.Clock == nil {
		o.Clock = engine.SystemClock()
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	return o, nil
}
