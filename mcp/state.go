package mcp

import (
	"cmp"

	"github.com/correlator-go/correlator/codec"
)

// Seed makes correlation values, where nobody else brought one: draw it at random
// for each State.
type Seed [2]uint64

// Options are the limits of a State. The zero value has the defaults.
type Options struct {
	// Seed makes correlation values. The zero value is a seed too, the same for
	// everybody.
	Seed Seed
	// MaxDepth is how deep a frame may be nested; 0 means 64, negative without
	// bound.
	MaxDepth int
	// MaxClosed is how many exchanges are remembered after they were closed, so
	// that a repeated frame or a late result for one is known; 0 means 10,000,
	// negative none. When there are more, the newest three quarters are kept.
	MaxClosed int
	// MaxBatch is how many messages a batch of 2025-03-26 may have; 0 and what is
	// above 1,024 mean 1,024, negative none.
	MaxBatch int
	// MaxWatched is how many resources one subscription, or one session of the
	// older era, may watch; 0 means 1,024, negative none.
	MaxWatched int
	// MaxRounds is how often a handler of the older era may ask for input within
	// one request; 0 means 8, negative never. In the modern era the client counts.
	MaxRounds int
}

func (o Options) withDefaults() Options {
	o.MaxDepth = cmp.Or(o.MaxDepth, 64)
	o.MaxClosed = max(cmp.Or(o.MaxClosed, 10_000), 0)
	o.MaxBatch = min(max(cmp.Or(o.MaxBatch, 1024), 0), 1024)
	o.MaxWatched = max(cmp.Or(o.MaxWatched, 1024), 0)
	o.MaxRounds = min(max(cmp.Or(o.MaxRounds, 8), 0), 32)
	return o
}

// State is one connection as its server sees it. It belongs to Step: whoever calls
// Step, one call at a time, owns it.
type State struct {
	server  *Server
	options Options
	scan    codec.ScanOptions
	// known holds the place in records of every exchange that is live, and gone for
	// each that is closed and remembered. It holds no pointers, so that the collector
	// does not look through it.
	known   map[ExchangeID]int32
	records []*exchange
	live    list         // in order of admission
	streams list         // newest first; each of them is known
	closed  []ExchangeID // oldest first; at most MaxClosed
	free    *exchange    // records to be used again
	session session
	memo    *metaText // the last _meta; nil before the first
	// highest is the highest exchange that was ever known: what is above it is new.
	highest ExchangeID
}

// Init makes the state of a new connection to s.
func Init(s *Server, o Options) *State {
	o = o.withDefaults()
	return &State{
		server: s, options: o, scan: codec.ScanOptions{MaxDepth: o.MaxDepth},
		known: make(map[ExchangeID]int32),
	}
}

// Server is the description that this connection serves now: the one it began
// with, and what RegisterTool and UnregisterTool made of it.
func (s *State) Server() *Server { return s.server }

// Live is how many exchanges are open.
func (s *State) Live() int { return s.live.n + s.streams.n }

// OpenStreams returns the exchanges of the open subscriptions, newest first. The
// slice is the caller's.
func (s *State) OpenStreams() []ExchangeID {
	ids := make([]ExchangeID, 0, s.streams.n)
	for e := s.streams.first; e != nil; e = e.next {
		ids = append(ids, e.id)
	}
	return ids
}

// Session is the revision that initialize agreed on, "" before that and on
// connections that never saw one.
func (s *State) Session() Revision { return s.session.revision }

// Ready reports whether the client of a session has sent
// notifications/initialized.
func (s *State) Ready() bool { return s.session.ready }
