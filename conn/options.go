package conn

import (
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// Limits, used where Options say nothing.
const (
	// DefaultMaxConcurrent is how many handlers run at once.
	DefaultMaxConcurrent = 64
	// DefaultMaxQueued is how many requests, and how many notifications, wait
	// for a handler.
	DefaultMaxQueued = 1024
	// DefaultMaxQueuedBytes bounds the frames of those requests, and of those
	// notifications.
	DefaultMaxQueuedBytes = 64 << 20
	// DefaultMaxFrame bounds one frame, in each direction.
	DefaultMaxFrame = 16 << 20
	// DefaultWriteBuffer bounds the bytes that wait to be written.
	DefaultWriteBuffer = 8 << 20
	// DefaultCloseTimeout bounds how long Close lets bytes go out and come in.
	DefaultCloseTimeout = time.Second
	// DefaultSubscriptionBuffer is how many notifications wait for a slow
	// subscriber.
	DefaultSubscriptionBuffer = 256
	// DefaultSubscriptionBytes bounds their methods and params.
	DefaultSubscriptionBytes = 1 << 20
	// DefaultCloseQuiet is how long Close listens for one more answer.
	DefaultCloseQuiet = 20 * time.Millisecond
)

// Batches says what happens to a frame that is a JSON array.
type Batches uint8

const (
	// RefuseBatches drops the frame, counts it and offers it to OnStray. MCP
	// has had no batches since 2025-06-18.
	RefuseBatches Batches = iota
	// SplitBatches serves each element as if it had come alone. The answers go
	// out as one array when the last is there, or in several where one would be
	// above MaxFrameOut; an empty array is answered with one invalid-request
	// error, a batch of notifications with nothing.
	SplitBatches
)

// Options of a connection. The zero value is an MCP connection over lines that
// serves nothing but ping. Options are copied by New.
type Options struct {
	// Profile chooses the dialect: which ids are legal, how a cancel is
	// written, whether a cancelled request is answered, and which ids calls get: below
	// 2^52, or in LSP, whose integers have 32 bits, 1, 2, 3 and so on. Zero is MCP.
	Profile codec.Profile
	// Framer cuts the stream into frames. Nil is codec.LineFramer, the framing
	// of MCP; LSP wants codec.HeaderFramer. One that is a codec.RequestFramer writes
	// requests in one go.
	Framer codec.Framer

	// Handler serves what the peer asks and notifies. Nil refuses requests with
	// -32601 and drops notifications.
	Handler Handler
	// Inline runs the handler on the connection's reader, without a queue, a
	// goroutine or a copy of the frame. Such a handler must not block: no
	// answer is read while it runs. It is meant for handlers that only pass the
	// request on and call [Inbound.Detach].
	Inline bool
	// MaxConcurrent is how many handlers run at once. Notifications have one
	// more goroutine of their own, which keeps their order. Zero is
	// DefaultMaxConcurrent, negative means one.
	MaxConcurrent int
	// MaxQueued is how many requests may wait for a handler, and how many
	// notifications. Requests that were detached and not yet answered count
	// too. A request above it is answered -32603, a notification dropped; both
	// are counted. Zero is DefaultMaxQueued, negative means none.
	MaxQueued int
	// MaxQueuedBytes bounds, in bytes, the frames of the requests that MaxQueued
	// counts and of those whose handlers run, and as much again the frames of
	// the notifications that wait. What exceeds it is treated as MaxQueued
	// says; one frame alone always passes. Zero is DefaultMaxQueuedBytes,
	// negative 2 GiB.
	MaxQueuedBytes int
	// Batches says what happens to a frame that is an array.
	Batches Batches
	// Relay takes every message in the place of the connection, which then routes
	// and answers nothing by itself: Handler, Inline, Batches, PassPing,
	// AnswerUnreadable and KeepAlive mean nothing beside it, and answers to Call find
	// no call. Frames go out by SendFrame. Nil for all but gateways.
	Relay Relay
	// Partial is asked for memory before more is read of a frame that is not whole
	// after PartialFree bytes, and told by negative numbers what has come free; so that
	// a bound can be set on what all connections of a program hold of frames that may
	// never end. Its error ends the connection. Nil asks nobody.
	Partial func(bytes int64) error
	// PassPing gives ping requests to Handler. Without it they are answered
	// with {} by the reader, ahead of every queue; the MCP profile only.
	PassPing bool
	// AnswerUnreadable answers frames that are no message with -32700 or
	// -32600. Off by default, because peers in use today die of an error that
	// carries no id.
	AnswerUnreadable bool

	// MaxPending is how many calls may be pending. Zero is 1<<16, negative as
	// many as a table can hold.
	MaxPending int
	// Overflow says what a call does when MaxPending are pending: fail with
	// ErrFull, or wait for room under its ctx. It also rules what Start and
	// Submit do when WriteBuffer is full; Call and Notify always wait there.
	Overflow engine.Overflow
	// MatchText lets an answer whose id is "7" settle call 7, for peers that
	// lose the type. The exact type is tried first.
	MatchText bool
	// Timeout is the total time of a call that names none. Zero is 60 s,
	// negative none.
	Timeout time.Duration
	// IdleTimeout is how long a call may hear nothing; its progress moves it.
	// Zero or negative is none. A call that has one asks for progress.
	IdleTimeout time.Duration
	// Grace is how long after its deadline the outcome of an abandoned call is
	// kept. Zero is 5 s, negative for ever.
	Grace time.Duration

	// MaxFrame bounds a frame that comes in. A larger line is skipped, and the
	// call it answers fails if its id can be seen; with other framings a larger
	// frame ends the connection. Zero is DefaultMaxFrame, negative 2 GiB.
	MaxFrame int
	// MaxFrameOut bounds what goes out: method and params together, the
	// envelope aside. A call above it fails with ErrTooLarge, unsent. Zero is
	// DefaultMaxFrame, negative 2 GiB.
	MaxFrameOut int
	// WriteBuffer bounds the bytes that wait to be written, FrameOverhead for each
	// frame included; one frame above it passes alone. What the reader answers by
	// itself (ping, refusals) may take as much again; beyond that it is dropped and
	// counted. Zero is DefaultWriteBuffer, negative 2 GiB.
	WriteBuffer int
	// ChunkSize is the largest read, in bytes, as codec.ReaderOptions has it. Zero
	// and negative are its default, 64 KiB.
	ChunkSize int
	// MaxDepth, RefuseLoneSurrogates and TrustBody are those of
	// codec.ScanOptions.
	MaxDepth             int
	RefuseLoneSurrogates bool
	TrustBody            bool

	// CloseTimeout bounds how long Close waits for bytes to go out and for
	// answers that are on the way. Zero is DefaultCloseTimeout, negative does
	// not wait.
	CloseTimeout time.Duration
	// CloseQuiet is how long Close, within CloseTimeout, listens for one more
	// answer: those that are on their way come within it of each other, and calls
	// that are never answered do not hold Close up for longer. Zero is
	// DefaultCloseQuiet, negative waits as long as CloseTimeout says.
	CloseQuiet time.Duration
	// KeepAlive is the pause after which a ping is sent to a peer from which
	// nothing came. Zero or negative sends none.
	KeepAlive time.Duration
	// KeepAliveMethod is the ping. Empty is DefaultKeepAliveMethod.
	KeepAliveMethod string
	// KeepAliveTimeout is how long the ping may stay unanswered before the
	// connection is given up. Zero is KeepAlive.
	KeepAliveTimeout time.Duration

	// Observer sees every settled call. It must not block. Nil costs nothing.
	Observer func(engine.Settlement)
	// OnStray sees what came in and could not be used; see [Stray]. It is
	// called by the reader and must not block.
	OnStray func(Stray)
	// OnClose is called once, with what Err returns, when the stream is closed
	// and every call has failed. Done is closed when it returns, so it must not
	// wait for that.
	OnClose func(error)
	// OnPanic gets what a handler or a callback panicked with, and its stack.
	// The panic ends only what it happened in; it is counted in any case.
	OnPanic func(v any, stack []byte)
	// Clock measures the calls' deadlines. Nil is the system's monotonic clock.
	Clock engine.Clock
}

// withDefaults resolves what zero and negative mean, and refuses values that mean
// nothing; those of Overflow and of the numbers are for the table to refuse.
func (o Options) withDefaults() (Options, error) {
	const (
		most  = 1<<31 - 1
		crowd = 1 << 30 // two of them still fit an int of 32 bits
	)
	if !o.Profile.Known() {
		return o, unknown("Profile", o.Profile)
	}
	if o.Batches > SplitBatches {
		return o, unknown("Batches", int(o.Batches))
	}
	if o.Framer == nil {
		o.Framer = codec.LineFramer{}
	}
	o.MaxConcurrent = min(limitOr(o.MaxConcurrent, DefaultMaxConcurrent, 1), crowd-1)
	o.MaxQueuedBytes = limitOr(o.MaxQueuedBytes, DefaultMaxQueuedBytes, most)
	o.MaxQueued = min(limitOr(o.MaxQueued, DefaultMaxQueued, 0), crowd)
	o.MaxFrameOut = min(limitOr(o.MaxFrameOut, DefaultMaxFrame, most), most)
	o.WriteBuffer = min(limitOr(o.WriteBuffer, DefaultWriteBuffer, most), most)
	o.CloseTimeout = durationOr(o.CloseTimeout, DefaultCloseTimeout)
	if o.CloseQuiet < 0 {
		o.CloseQuiet = max(o.CloseTimeout, 1)
	} else {
		o.CloseQuiet = durationOr(o.CloseQuiet, DefaultCloseQuiet)
	}
	if o.Relay != nil {
		o.KeepAlive = 0 // its answers would be the relay's
	}
	if o.KeepAliveTimeout <= 0 {
		o.KeepAliveTimeout = o.KeepAlive
	}
	return o, nil
}

// unknown refuses a value that is none of those an option can have.
func unknown(field string, value any) error {
	return &OptionError{Field: field, Value: value, Problem: "unknown"}
}

// limitOr is n, or def for zero and negative for what is below it.
func limitOr(n, def, negative int) int {
	switch {
	case n == 0:
		return def
	case n < 0:
		return negative
	}
	return n
}
