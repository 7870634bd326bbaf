package serve

import (
	"context"
	"log/slog"
	"time"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/progress"
)

// NoTimeout, or any negative duration, turns a timeout off where zero means the
// default.
const NoTimeout time.Duration = -1

// Defaults of [Options].
const (
	DefaultMaxLive       = 1024
	DefaultMaxFrame      = 1 << 20
	DefaultMaxDepth      = 64
	DefaultTimeout       = 30 * time.Second
	DefaultGrace         = 5 * time.Second
	DefaultMaxAbandoned  = 1024
	DefaultMaxTombstones = 10_000
	DefaultTombstoneAge  = 60 * time.Second
	DefaultMaxEvents     = 1024
	DefaultWriteBuffer   = 4 << 20
	DefaultWriteTimeout  = 60 * time.Second
	DefaultDrainTimeout  = 30 * time.Second
	DefaultAskTimeout    = 5 * time.Minute
	DefaultMaxConns      = 10_000
)

// Options of a [Server]. The zero value is good. In counts and sizes zero is the
// default and a negative value is refused; in durations zero is the default and
// a negative value none, unless the field says otherwise. A limit counts for one
// connection, that is, for one stream, one session of HTTP's older era, or all
// requests of HTTP's modern era together.
type Options struct {
	// MaxLive is how many requests may be live: not answered, or subscribed. One
	// above it is answered -32603. Zero is DefaultMaxLive.
	MaxLive int
	// MaxFrame is the longest frame that is taken, in bytes. A longer one is
	// answered -32600 if its id can be read. Zero is DefaultMaxFrame.
	MaxFrame int
	// MaxDepth is how deep a frame may be nested, itself counted. A deeper one is
	// answered -32600 if its id can be read. Zero is DefaultMaxDepth.
	MaxDepth int
	// Timeout is how long a handler may take, from when its request was taken.
	// Then the request is answered -32603 and the handler's context ends. Zero is
	// DefaultTimeout.
	Timeout time.Duration
	// Grace is how long a handler whose context has ended keeps its place. After
	// it the place is free, whether it returned or not. Zero is DefaultGrace,
	// negative frees at once.
	Grace time.Duration
	// MaxHandlers is how many handlers may run at once, those within their grace
	// included; requests above it wait, within their Timeout. Zero is MaxLive.
	MaxHandlers int
	// MaxAbandoned is how many handlers may go on beyond their grace without
	// counting for MaxHandlers. Go cannot stop a goroutine, so this is what bounds
	// those that do not heed their context; beyond it they keep their places.
	// Zero is DefaultMaxAbandoned.
	MaxAbandoned int
	// MaxTombstones and TombstoneAge bound what is remembered of handlers that
	// were cancelled before they were started. Zero is DefaultMaxTombstones and
	// DefaultTombstoneAge; no negative age either.
	MaxTombstones int
	TombstoneAge  time.Duration
	// MaxEvents is how many different changes may wait for a subscriber that does
	// not read; one more ends its connection, or over HTTP its stream. Zero is
	// DefaultMaxEvents.
	MaxEvents int
	// WriteBuffer is how many bytes may wait to be written to a stream. Handlers
	// that have more to say wait; twice as much lets the reader wait as well.
	// One frame above it passes alone. Zero is DefaultWriteBuffer.
	WriteBuffer int
	// WriteTimeout is how long a peer may take no byte of what is written to it
	// before its connection is given up. Zero is DefaultWriteTimeout.
	WriteTimeout time.Duration
	// DrainTimeout is how long answers are waited for when the peer has closed
	// its end of the stream, or Shutdown was called. Zero is DefaultDrainTimeout,
	// negative does not wait.
	DrainTimeout time.Duration
	// AskTimeout is how long a client of the older era may take to answer a
	// sampling, elicitation or roots request, for which no handler waits. Zero is
	// DefaultAskTimeout.
	AskTimeout time.Duration
	// MaxConnections is how many connections Listen keeps open, and how many
	// sessions HTTP's older era. Zero is DefaultMaxConns.
	MaxConnections int
	// State are the reducer's own limits: remembered exchanges, messages of a
	// batch, watched resources, rounds of input. Its Seed and MaxDepth are set
	// here.
	State mcp.Options
	// Progress bounds what one request may report.
	Progress progress.Limits

	// AnswerUnreadable answers frames whose id cannot be read, with an error that
	// carries none. Off by default: real clients die of such an error. Over HTTP
	// they are always answered, with status 400.
	AnswerUnreadable bool
	// Listener names what the connections came by, in every event.
	Listener string
	// Observer sees what happens; see [Event]. It is called by the goroutine that
	// made it happen and must not block. What it panics with is dropped. Nil
	// costs nothing.
	Observer func(Event)
	// Around, when not nil, runs in the place of every handler, on its goroutine and
	// with its context: for traces, for limits of one's own. It calls Run.Perform,
	// with ctx or one made from it, and returns what that gave, or an Outcome of its
	// own (mcp.Fail) instead. What it panics with counts as the handler's panic. The
	// zero Outcome is answered as an internal error.
	Around func(ctx context.Context, r Run) mcp.Outcome
	// Logger gets a line for what an operator should know: a handler's panic with
	// its stack, a connection that failed, a frame that was dropped. Nil logs
	// nothing.
	Logger *slog.Logger
	// OnStray sees what came in and could not be used. It is called by the reader
	// and must not block.
	OnStray func(Stray)
}

// withDefaults checks o and fills its zero fields in.
func (o Options) withDefaults() (Options, error) {
	for _, f := range []struct {
		name  string
		value *int
		zero  int
	}{
		{"MaxLive", &o.MaxLive, DefaultMaxLive},
		{"MaxFrame", &o.MaxFrame, DefaultMaxFrame},
		{"MaxDepth", &o.MaxDepth, DefaultMaxDepth},
		{"MaxHandlers", &o.MaxHandlers, 0},
		{"MaxAbandoned", &o.MaxAbandoned, DefaultMaxAbandoned},
		{"MaxTombstones", &o.MaxTombstones, DefaultMaxTombstones},
		{"MaxEvents", &o.MaxEvents, DefaultMaxEvents},
		{"WriteBuffer", &o.WriteBuffer, DefaultWriteBuffer},
		{"MaxConnections", &o.MaxConnections, DefaultMaxConns},
	} {
		if *f.value < 0 {
			return o, &OptionError{Field: f.name, Value: int64(*f.value)}
		}
		if *f.value == 0 {
			*f.value = f.zero
		}
	}
	if o.MaxHandlers == 0 {
		o.MaxHandlers = o.MaxLive
	}
	if o.TombstoneAge < 0 {
		return o, &OptionError{Field: "TombstoneAge", Value: int64(o.TombstoneAge)}
	}
	for _, f := range []struct {
		value *time.Duration
		zero  time.Duration
	}{
		{&o.Timeout, DefaultTimeout}, {&o.Grace, DefaultGrace}, {&o.TombstoneAge, DefaultTombstoneAge},
		{&o.WriteTimeout, DefaultWriteTimeout}, {&o.DrainTimeout, DefaultDrainTimeout},
		{&o.AskTimeout, DefaultAskTimeout},
	} {
		if *f.value == 0 {
			*f.value = f.zero
		}
	}
	var err error
	o.Progress, err = o.Progress.WithDefaults()
	return o, err
}
