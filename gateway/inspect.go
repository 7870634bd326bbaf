package gateway

import (
	"cmp"
	"slices"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/route"
	"github.com/correlator-go/correlator/mcp"
)

// Pending is one call in flight.
type Pending struct {
	// Client and ID name the call, for CancelCall; ID is as its client wrote it, Peer who
	// that is.
	Client uint64
	ID     codec.ID
	Peer   link.Peer
	// Upstream and Method say where it went. Upstream is "" before that is known, Tool
	// where there is none, or no Observer.
	Upstream, Method, Tool string
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
			p := Pending{Client: s.number, ID: c.id.ID(), Peer: s.peer, Method: c.method, Tool: c.tool, Sent: c.number.Load() != 0, Age: now - c.begun}
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

// load is what is in flight at one upstream: all calls, those that are not sent, and
// those that will be over some day, which listening is not.
type load struct{ calls, waiting, working int }

// load visits every call.
func (g *Gateway) load() map[*target]load {
	out := make(map[*target]load)
	for _, s := range g.everySession() {
		s.mu.Lock()
		for c := s.calls.first; c != nil; c = c.next {
			if b := c.backend.Load(); b != nil {
				l := out[b.target]
				l.calls++
				if c.method != mcp.MethodListen {
					l.working++
				}
				if c.number.Load() == 0 {
					l.waiting++
				}
				out[b.target] = l
			}
		}
		s.mu.Unlock()
	}
	return out
}

// UpstreamState is one upstream as it is now.
type UpstreamState struct {
	// Name and Isolation are those of its options.
	Name      string
	Isolation Isolation
	// Opener is what its Opener calls itself.
	Opener string
	// Ways are those that clients have, Up those of them that are open, Opening those
	// that are on their way to that, pauses between attempts included.
	Ways, Up, Opening int
	// InFlight are calls that are not over, Waiting those of them that are not sent.
	InFlight, Waiting int
}

// Upstreams tells how the upstreams are, by name. It visits every call.
func (g *Gateway) Upstreams() []UpstreamState {
	loads := g.load()
	var out []UpstreamState
	for _, t := range g.plan.Load().targets {
		u := UpstreamState{
			Name: t.o.Name, Isolation: t.o.Isolation, Opener: t.o.Opener.String(), InFlight: loads[t].calls, Waiting: loads[t].waiting,
		}
		for _, b := range t.all() {
			u.Ways++
			if b.live.Load() != nil {
				u.Up++
				continue
			}
			b.mu.Lock()
			if b.opening {
				u.Opening++
			}
			b.mu.Unlock()
		}
		out = append(out, u)
	}
	slices.SortFunc(out, func(a, b UpstreamState) int { return cmp.Compare(a.Name, b.Name) })
	return out
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
