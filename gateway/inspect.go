package gateway

import (
	"cmp"
	"slices"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/route"
)

// Pending is one call in flight.
type Pending struct {
	// Client and ID name the call, ID as its client wrote it.
	Client uint64
	ID     codec.ID
	Peer   link.Peer
	// Upstream and Method say where it went. Upstream is "" before that is known.
	Upstream, Method string
	// Sent says that it does not wait for its upstream any more, Age how long ago it
	// came in.
	Sent bool
	Age  time.Duration
}

// Slowest gives the calls in flight that came in first, at most most of them, the
// oldest first. It visits every call.
func (g *Gateway) Slowest(most int) []Pending {
	now := g.clock.Now()
	var out []Pending
	for _, s := range g.everySession() {
		s.mu.Lock()
		for c := s.calls.first; c != nil; c = c.next {
			p := Pending{Client: s.number, ID: c.key.ID, Peer: s.peer, Method: c.method, Sent: c.number.Load() != 0, Age: now - c.begun}
			if b := c.backend.Load(); b != nil {
				p.Upstream = b.target.o.Name
			}
			out = append(out, p)
		}
		s.mu.Unlock()
	}
	slices.SortFunc(out, func(a, b Pending) int { return cmp.Compare(b.Age, a.Age) })
	return out[:min(most, len(out))]
}

func (g *Gateway) everySession() []*Session {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]*Session, 0, len(g.sessions))
	for _, s := range g.sessions {
		out = append(out, s)
	}
	return out
}

// CancelCall ends a call in an operator's name: its client gets an error that says so,
// its upstream a cancel. False says that no such call is in flight.
func (g *Gateway) CancelCall(client uint64, id codec.ID) bool {
	c, ok := g.table.Find(route.Key{Client: client, ID: id})
	return ok && c.cancel(ErrOperator, nil, nil)
}
