package mcp

import "github.com/correlator-go/correlator/internal/invariants"

// The invariants of a State, proved behind every Step under the build tag
// "invariants":
//
//	I1 one end         an exchange is answered at most once, and nothing follows its Close
//	I2 no early work   a handler starts on a live exchange alone, which was admitted
//	I3 accounted       every exchange known is live, a stream, or closed and remembered
//	I4 bounded         no more closed exchanges are remembered than MaxClosed
//	I5 nothing idle    what is live waits for a handler, for the client, or hears notifications
func (s *State) check(out []Effect) {
	if !invariants.Enabled {
		return
	}
	invariants.Check(len(s.known) == s.live.n+s.streams.n+len(s.closed), "I3: %d known, %d live, %d streams, %d closed",
		len(s.known), s.live.n, s.streams.n, len(s.closed))
	invariants.Check(len(s.closed) <= s.options.MaxClosed, "I4: %d closed, at most %d", len(s.closed), s.options.MaxClosed)
	answered, closed := make(map[ExchangeID]bool), make(map[ExchangeID]bool)
	for i := range out {
		e := &out[i]
		invariants.Check(!closed[e.Exchange], "I1: %v of %d behind its Close", e.Kind, e.Exchange)
		switch e.Kind {
		case Close:
			closed[e.Exchange] = true
			live, _ := s.lookup(e.Exchange)
			invariants.Check(live == nil, "I1: %d is closed and known as live", e.Exchange)
		case Write:
			invariants.Check(!e.Final || !answered[e.Exchange], "I1: %d is answered twice", e.Exchange)
			answered[e.Exchange] = answered[e.Exchange] || e.Final
		}
	}
	for i := range out {
		e := &out[i]
		r, _ := s.lookup(e.Exchange)
		live := r != nil
		switch e.Kind {
		case Write:
			invariants.Check(e.Exchange == 0 || !e.Final || closed[e.Exchange], "I1: %d is answered and stays open", e.Exchange)
		case Start:
			invariants.Check(live || closed[e.Exchange], "I2: a handler starts on %d, which is not live", e.Exchange)
		}
		if live && r.stream == nil {
			waits := false
			r.each(func(c *call) { waits = true })
			invariants.Check(waits, "I5: %d is live and waits for nothing", e.Exchange)
		}
	}
}
