package serve

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"sync"
	"time"

	"github.com/correlator-go/correlator/mcp"
)

// Server serves one description over any number of connections, on any of the
// front ends. Its methods are safe for concurrent use.
type Server struct {
	front
	stdioStall time.Duration // WriteTimeout on standard output

	mu    sync.Mutex // protects the fields below
	base  *mcp.State // steps tools in and out; new connections begin with its server
	conns map[*Connection]struct{}
	ended bool
}

// New makes a server of a description. Its error is an *OptionError.
func New(d *mcp.Server, o Options) (*Server, error) {
	stdioStall := o.WriteTimeout
	if stdioStall == 0 {
		stdioStall = NoTimeout
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Server{front: front{o: o}, stdioStall: stdioStall, base: mcp.Init(d, mcp.Options{}), conns: make(map[*Connection]struct{})}, nil
}

// Stats counts what happened since the server was made.
type Stats struct {
	Connections uint64 // that were opened
	Open        int    // connections now
	Live        int    // requests now: not answered, or subscribed
	Handlers    int    // at work now, those within their grace included
	Abandoned   int    // at work now, beyond their grace
	Queued      int    // requests now that wait for a handler's place
	Waiting     int64  // bytes that wait to be written now
	Admitted    uint64 // requests that were taken
	Rejected    uint64 // frames that a limit refused
	Panics      uint64 // of handlers
	Timeouts    uint64 // of handlers
	Late        uint64 // answers of a client to nothing that waited
	Unmatched   uint64 // cancellations of nothing: answered, unknown or no id at all
	Duplicates  uint64 // requests whose id was in flight
	Unreadable  uint64 // frames that were no message
	Slow        uint64 // subscribers that were given up
	Refused     uint64 // connections above MaxConnections
}

// Stats reads the counters.
func (s *Server) Stats() Stats {
	st := Stats{
		Connections: s.counts.connections.Load(), Admitted: s.counts.admitted.Load(), Rejected: s.counts.rejected.Load(),
		Panics: s.counts.panics.Load(), Timeouts: s.counts.timeouts.Load(), Late: s.counts.late.Load(),
		Duplicates: s.counts.duplicates.Load(), Unreadable: s.counts.unreadable.Load(), Slow: s.counts.slow.Load(),
		Unmatched: s.counts.unmatched.Load(), Refused: s.counts.refused.Load(),
	}
	for _, c := range s.connections() {
		st.Open++
		st.Live += c.Live()
		running, gone, queued := c.crew.counts()
		st.Handlers += running
		st.Abandoned += gone
		st.Queued += queued
		st.Waiting += c.out.waiting()
	}
	return st
}

// Notify tells every subscription of a change. It never waits: for a client that
// does not read, changes gather, each once, up to Options.MaxEvents.
func (s *Server) Notify(n mcp.Notification) {
	for _, c := range s.connections() {
		c.notify(n)
	}
}

// RegisterTool adds a tool for all connections, open and to come, and tells those
// who listen for it. A name that is taken changes nothing.
func (s *Server) RegisterTool(t mcp.ServerTool) {
	s.mu.Lock()
	mcp.Step(s.base, mcp.RegisterTool{Tool: t}, nil)
	conns := s.connectionsLocked()
	s.mu.Unlock()
	for _, c := range conns {
		c.register(t)
	}
}

// UnregisterTool takes a tool away from all connections, and tells those who
// listen for it. Calls of it that run go on.
func (s *Server) UnregisterTool(name string) {
	s.mu.Lock()
	mcp.Step(s.base, mcp.UnregisterTool{Name: name}, nil)
	conns := s.connectionsLocked()
	s.mu.Unlock()
	for _, c := range conns {
		c.unregister(name)
	}
}

// EndStreams ends every subscription with its result.
func (s *Server) EndStreams() {
	for _, c := range s.connections() {
		c.endStreams()
	}
}

// Close ends every connection at once, and refuses new ones. It may be called
// again.
func (s *Server) Close() {
	s.mu.Lock()
	s.ended = true
	conns := s.connectionsLocked()
	s.mu.Unlock()
	for _, c := range conns {
		c.Close()
	}
}

// Shutdown refuses new connections and requests, ends the subscriptions, waits for
// the answers to what is live, for Options.DrainTimeout at most, and then closes
// and waits for what was cancelled. It returns early, with the cause, when ctx
// ends; everything is closed then too.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.ended = true
	conns := s.connectionsLocked()
	s.mu.Unlock()
	var all sync.WaitGroup
	errs := make([]error, len(conns))
	for i, c := range conns {
		all.Go(func() {
			drain, stop := s.draining(ctx)
			defer stop()
			_ = c.Drain(drain)
			errs[i] = c.Stop(ctx)
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// draining is the context of a drain.
func (s *Server) draining(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.o.DrainTimeout < 0 {
		ctx, stop := context.WithCancel(ctx)
		stop()
		return ctx, stop
	}
	return context.WithTimeout(ctx, s.o.DrainTimeout)
}

// add lets a connection in, with the tools that there are now: whatever is
// registered from here on it hears of.
func (s *Server) add(c *Connection) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return ErrStopped
	}
	limits := s.o.State
	limits.Seed, limits.MaxDepth = newSeed(), s.o.MaxDepth
	c.state = mcp.Init(s.base.Server(), limits)
	s.conns[c] = struct{}{}
	s.counts.connections.Add(1)
	return nil
}

func (s *Server) forget(c *Connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

func (s *Server) connections() []*Connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.connectionsLocked()
}

func (s *Server) connectionsLocked() []*Connection {
	all := make([]*Connection, 0, len(s.conns))
	for c := range s.conns {
		all = append(all, c)
	}
	return all
}

func newSeed() mcp.Seed {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return mcp.Seed{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
}
