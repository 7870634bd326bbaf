package link

import (
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
)

// DefaultMaxQueued is how many requests of the peer may be unanswered, where the
// options say nothing: these libraries have no bound.
const DefaultMaxQueued = 1 << 16

// Settle fills in what a connection needs to behave as these libraries do:
// JSON-RPC 2.0 unless LSP is asked for, no timeout and no bound of pending calls
// unless one is asked for, and callers that wait for room.
func Settle(o conn.Options, f codec.Framer) conn.Options {
	if o.Profile == codec.MCP {
		o.Profile = codec.JSONRPC
	}
	if o.Timeout == 0 {
		o.Timeout = conn.NoTimeout
	}
	if o.MaxPending == 0 {
		o.MaxPending = -1
	}
	if o.MaxQueued == 0 {
		o.MaxQueued = DefaultMaxQueued
	}
	o.Overflow = engine.OverflowWait
	if o.Framer == nil {
		o.Framer = f
	}
	return o
}
