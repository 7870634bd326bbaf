package mcpgo

import (
	"time"

	"github.com/correlator-go/correlator/conn"
)

// Limits, used where Options say nothing.
const (
	// DefaultBuffer is how many notifications wait for the handler, and how many
	// progress reports of one call.
	DefaultBuffer = 256
	// DefaultHandlerWait bounds how long the answer of a call waits for the
	// handler to have seen the notifications that came before it.
	DefaultHandlerWait = time.Second
)

// Options of a Transport. The zero value behaves as mcp-go's own stdio transport,
// but for what the package's documentation lists.
type Options struct {
	// Conn are the options of the connection. Profile, Handler and Batches are the
	// transport's own. Timeout is the total time of a call: zero and negative are
	// none, so that nothing but its ctx ends a call, as with mcp-go.
	// subscriptions/listen, which is meant to stay, has none in any case.
	// IdleTimeout, moved by progress, asks servers for progress; the reports reach
	// the handler only if the caller gave a token.
	Conn conn.Options
	// Buffer is how many notifications may wait for the handler, and how many
	// progress reports of one call. When as many wait, a report waits for
	// HandlerWait, while later ones of its call replace each other; other notifications queue in the connection up to
	// Conn.MaxQueued, and are dropped and counted beyond. Zero is DefaultBuffer,
	// negative means one.
	Buffer int
	// HandlerWait bounds how long a call that was answered waits for the handler to
	// have seen the notifications that came for it before, and how long one of these
	// waits for a place among Buffer before it is dropped. Without a bound a handler
	// that itself makes such a call would wait for itself. Zero is
	// DefaultHandlerWait, negative does not wait.
	HandlerWait time.Duration
}

func (o Options) withDefaults() Options {
	switch {
	case o.Buffer == 0:
		o.Buffer = DefaultBuffer
	case o.Buffer < 0:
		o.Buffer = 1
	}
	switch {
	case o.HandlerWait == 0:
		o.HandlerWait = DefaultHandlerWait
	case o.HandlerWait < 0:
		o.HandlerWait = 0
	}
	if o.Conn.Timeout <= 0 {
		o.Conn.Timeout = conn.NoTimeout
	}
	return o
}
