package engine

import (
	"fmt"
	"time"
)

// NoTimeout, or any negative duration, turns a timeout off where zero means the
// default.
const NoTimeout time.Duration = -1

// Defaults and bounds of [Options].
const (
	// DefaultMaxPending is what a zero MaxPending means, in calls.
	DefaultMaxPending = 1 << 16
	// DefaultTimeout, DefaultGrace and DefaultTick are what zero durations mean. The
	// default IdleTimeout is none.
	DefaultTimeout = 60 * time.Second
	DefaultGrace   = 5 * time.Second
	DefaultTick    = time.Millisecond

	// SlotsMax is the most slots a table can hold, spent ones included.
	SlotsMax = 1 << 24
	// ShardsMax is the most shards an index of caller ids can have.
	ShardsMax = 1 << 10
	// CountMax is the most that Options.CountMax can be: the last integer that is
	// exact in a peer that keeps numbers as floats.
	CountMax = 1<<53 - 1
	// TickMin and TickMax bound Options.Tick.
	TickMin = time.Microsecond
	TickMax = time.Minute
)

// Overflow says what registering does when MaxPending calls are pending.
type Overflow uint8

// The ways to treat a call for which there is no room.
const (
	// OverflowFail returns ErrFull at once.
	OverflowFail Overflow = iota
	// OverflowWait waits for room, first come first served, until the call's
	// context ends. CallOptions.NoWait makes one call fail all the same: callbacks
	// must, for they run on the goroutine that would make the room.
	OverflowWait
)

// Options configure an [Engine]. The zero value is good: minted ids, 65,536
// pending, a 60-s total deadline. In durations zero means the default and a
// negative value none.
type Options[T any] struct {
	// MaxPending bounds the calls that are pending, or settled and not yet
	// consumed. 0 means DefaultMaxPending, negative SlotsMax, more than SlotsMax
	// is refused. Memory follows the peak in flight, not this bound, except that
	// an index of caller ids is sized by it when it is set.
	MaxPending int
	// Overflow says what happens beyond MaxPending; the zero value fails.
	Overflow Overflow
	// CallerIDs makes the engine take its ids from the caller (Register) instead
	// of minting them (Begin).
	CallerIDs bool
	// CountMax is the last number that NextID counts to with CallerIDs; after it comes
	// 1 again. 0 means CountMax, which is what every JSON peer carries unharmed; more,
	// negative and what MaxPending would exhaust are refused. Without CallerIDs it
	// means nothing.
	CountMax int64
	// MatchText lets an answer whose id names no pending call settle one whose id
	// has the same text but another JSON type, for peers that echo 7 as "7". The
	// exact type always wins. It does not merge ids when registering.
	MatchText bool
	// Timeout is the total deadline of a call that names none: it counts from
	// registering and nothing moves it. 0 means DefaultTimeout, negative none.
	Timeout time.Duration
	// IdleTimeout is the idle deadline of a call that names none: Touch starts it
	// anew, never beyond the total deadline. It is rounded up to whole ticks, of
	// which it may have 2^30 (12 days at 1 ms). 0 or negative means none.
	IdleTimeout time.Duration
	// Grace is how long after its total deadline a settled call that nobody
	// consumed is reclaimed. 0 means DefaultGrace, negative never. See the package
	// text for calls without a total deadline.
	Grace time.Duration
	// Tick is the precision of deadlines: never early, late by at most one tick
	// and the wake-up of the clock's timer. 0 means DefaultTick; from TickMin to
	// TickMax. A timer below 1 ms buys nothing on most systems.
	Tick time.Duration
	// Shards is the number of shards of the index of caller ids, each growing and
	// locking on its own. 0 means four to eight per CPU, at most 64, as suits
	// MaxPending; negative and more than ShardsMax are refused. Without CallerIDs it
	// means nothing.
	Shards int
	// Clock is where time comes from; nil means the system's monotonic clock.
	Clock Clock
	// Observer, when not nil, hears of every call that ended, on the goroutine
	// that settled it, after the outcome became visible. It must not block.
	Observer func(Settlement)
	// OnAbandon, when not nil, hears of every call that was cancelled or expired
	// (FailAll does not count), on the goroutine that settled it. It must not block.
	OnAbandon func(Abandonment)
	// Expiring, when not nil, brackets what expires together: it gets true before the
	// first call of a run of the driver expires, and false after the last, when all
	// their callbacks and OnAbandon have run. So what these would do for each call can
	// be done once for all of them. Its calls come in pairs that do not overlap, also
	// when a callback ends the goroutine; it must not block. A call that its waiter
	// ends, since a context's deadline passed, does not count.
	Expiring func(on bool)
	// Detach, when not nil, makes a value outlive the Resolve that brought it; it
	// runs when the outcome is kept for a waiter, and not for callbacks and
	// discarded calls. into is the call's CallOptions.Into: the memory that v may be
	// copied to, if it has room. It must not use the engine. If it does not return,
	// because it panics or ends its goroutine, the call fails.
	Detach func(v, into T) T
	// OnPanic, when not nil, gets what a callback, observer or hook panicked with,
	// and the stack. Panics are counted and stopped either way, one of its own too.
	OnPanic func(v any, stack []byte)
}

// CallOptions configure one call. The zero value takes the engine's timeouts and
// waits by [Call.Wait].
type CallOptions[T any] struct {
	// Method names the call in errors and to the observer. It is kept until the
	// call's slot takes another call, so it must not share a large buffer.
	Method string
	// Timeout is the total deadline, from registering: 0 the engine's, negative none.
	Timeout time.Duration
	// IdleTimeout is the idle deadline: 0 the engine's, negative none, more than 2^30
	// ticks is refused.
	IdleTimeout time.Duration
	// Notify, when not nil, gets the outcome, once, on the goroutine that settles
	// the call, when the call's slot is free again: it may register, settle and
	// fail all, and must not block. The call's handle can then cancel, but not wait.
	Notify func(Outcome[T])
	// Discard says that nobody will ask for the outcome. It cannot stand beside
	// Notify.
	Discard bool
	// NoWait returns ErrFull when there is no room, under OverflowWait too.
	NoWait bool
	// Started is when the call began, as Engine.Now tells it, for a batch of calls
	// that reads the clock once. 0 and negative mean now.
	Started time.Duration
	// Into is what Options.Detach gets beside the value, if the call is waited for
	// and answered: memory of the caller's. The engine holds it until the outcome is
	// consumed, and nobody touches it after that. Without Detach it means nothing.
	//
	// Options are passed by value. The compiler copies by 16 bytes, and overlaps its
	// copies when the size is no multiple of that, which costs a stall each time: with
	// a slice here they are 80 bytes.
	Into T
}

// OptionError says which option is out of its range.
type OptionError struct {
	Field   string // name of the field of Options or CallOptions
	Value   any
	Problem string
}

// Error names the field, the value and the problem.
func (e *OptionError) Error() string {
	return fmt.Sprintf("engine: option %s is %v: %s", e.Field, e.Value, e.Problem)
}

// withDefaults checks the options and puts the defaults in their places.
func (o Options[T]) withDefaults() (Options[T], error) {
	refuse := func(field string, value any, problem string) (Options[T], error) {
		return o, &OptionError{Field: field, Value: value, Problem: problem}
	}
	switch {
	case o.MaxPending > SlotsMax:
		return refuse("MaxPending", o.MaxPending, "more than SlotsMax")
	case o.MaxPending < 0:
		o.MaxPending = SlotsMax
	case o.MaxPending == 0:
		o.MaxPending = DefaultMaxPending
	}
	if o.Overflow > OverflowWait {
		return refuse("Overflow", int(o.Overflow), "unknown")
	}
	if o.Shards < 0 || o.Shards > ShardsMax {
		return refuse("Shards", o.Shards, "not from 0 to ShardsMax")
	}
	switch {
	case o.CountMax == 0:
		o.CountMax = CountMax
	case o.CountMax < 0 || o.CountMax > CountMax:
		return refuse("CountMax", o.CountMax, "not from 0 to CountMax")
	case o.CallerIDs && o.CountMax <= int64(o.MaxPending):
		return refuse("CountMax", o.CountMax, "not above MaxPending")
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	switch {
	case o.Tick == 0:
		o.Tick = DefaultTick
	case o.Tick < TickMin || o.Tick > TickMax:
		return refuse("Tick", o.Tick, "not from TickMin to TickMax")
	}
	return o, nil
}
