package echo

import "github.com/correlator-go/correlator/codec"

// CountersMethod asks the server for its own counters; see [Counts].
const CountersMethod = "echo/counters"

// Options says how a server behaves. The zero value is a fast, plain echo.
type Options struct {
	// Framer separates messages. nil is codec.LineFramer.
	Framer codec.Framer
	// MaxFrame is the largest frame taken, in bytes. 0 is 16 MiB, negative 2 GiB.
	MaxFrame int
	// Profile is the dialect of ids and envelopes. The zero value is MCP.
	Profile codec.Profile
	// MCP answers the handshake and tools/call instead of echoing them.
	MCP bool
	// Discover makes an MCP server answer server/discover (the 2026-07-28
	// revision). Without it that method is unknown, as on older servers.
	Discover bool
	// Shape is the misbehaviour asked for. The zero value is none.
	Shape Shape
	// Quit, when closed, cuts a stall short, so that whoever waits for the server
	// does not wait for that. nil lets stalls last.
	Quit <-chan struct{}
	// Seed decides what befalls which request.
	Seed uint64
	// Counters is where the server counts; several connections may share it.
	// nil counts into a private one.
	Counters *Counters
}

func (o Options) withDefaults() Options {
	if o.Framer == nil {
		o.Framer = codec.LineFramer{}
	}
	if o.Counters == nil {
		o.Counters = new(Counters)
	}
	return o
}
