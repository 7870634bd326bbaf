package gateway

import "sync/atomic"

type counts struct {
	requests, answered, failed, expired, cancelled, lost, refused atomic.Uint64
	dropped                                                       [reasons]atomic.Uint64
	opened, openFailed                                            atomic.Uint64
	panics                                                        atomic.Uint64
	retried, hedged, coalesced                                    atomic.Uint64
	conflicts                                                     atomic.Uint64
}

// Stats are counters of a gateway since it was made, and gauges. They are read one by
// one. When nothing is in flight, Requests is the sum of the six that follow it.
type Stats struct {
	// Requests are those of clients that were taken, Refused among them.
	Requests uint64
	// Answered, Failed, Expired, Cancelled, Lost and Refused count the calls that are over,
	// by Outcome: the server's result, its error, a deadline, a cancel, the server's end,
	// and what the gateway did not take.
	Answered, Failed, Expired, Cancelled, Lost, Refused uint64
	// Dropped counts messages that went nowhere, by reason.
	Dropped map[Reason]uint64
	// Opened and OpenFailed count ways to upstreams.
	Opened, OpenFailed uint64
	// Panics of observers, routers and transports.
	Panics uint64
	// Retried and Hedged count requests that were sent again, and twice.
	Retried, Hedged uint64
	// Coalesced counts progress that a later one, or the answer, came in place of.
	Coalesced uint64
	// Conflicts counts resources that two upstreams of a merged server have, each once.
	Conflicts uint64
	// Waiting counts calls that wait to be sent, over all upstreams: a gauge.
	Waiting int
	// Admitted counts calls past a gate, that of the gateway and those of upstreams, and
	// Pending requests that a server has not answered, the gateway's own and second ones
	// among them: gauges.
	Admitted, Pending int
	// InFlight and Sessions are gauges.
	InFlight, Sessions int
}

// Stats reads the counters.
func (g *Gateway) Stats() Stats {
	c := &g.counts
	s := Stats{
		Requests: c.requests.Load(), Answered: c.answered.Load(), Failed: c.failed.Load(), Expired: c.expired.Load(),
		Cancelled: c.cancelled.Load(), Lost: c.lost.Load(), Refused: c.refused.Load(), Dropped: make(map[Reason]uint64),
		Opened: c.opened.Load(), OpenFailed: c.openFailed.Load(), Panics: c.panics.Load(), InFlight: g.table.Len(),
	}
	for r := Reason(1); r < reasons; r++ {
		if n := c.dropped[r].Load(); n > 0 {
			s.Dropped[r] = n
		}
	}
	s.Conflicts = c.conflicts.Load()
	s.Retried, s.Hedged, s.Coalesced = c.retried.Load(), c.hedged.Load(), c.coalesced.Load()
	s.Admitted, s.Waiting = g.gate.Load()
	for _, t := range g.everyTarget() {
		admitted, waiting := t.gate.Load()
		s.Admitted += admitted
		s.Waiting += waiting
		for _, b := range t.all() {
			s.Pending += b.engine.Len()
		}
	}
	g.mu.Lock()
	s.Sessions = len(g.sessions)
	g.mu.Unlock()
	return s
}

// ended counts a call that is over.
func (c *counts) ended(o Outcome) {
	switch o {
	case Answered:
		c.answered.Add(1)
	case Failed:
		c.failed.Add(1)
	case Expired:
		c.expired.Add(1)
	case Cancelled:
		c.cancelled.Add(1)
	case Lost:
		c.lost.Add(1)
	case Refused:
		c.refused.Add(1)
	}
}
