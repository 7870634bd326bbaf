package gateway

import (
	"context"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/gateway/limit"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/route"
)

// Gateway passes messages between clients and upstreams. All methods are safe for
// concurrent use.
type Gateway struct {
	o       Options
	clock   engine.Clock
	table   *route.Table[*call]
	methods methods
	tools   methods // names of tools and prompts, if there is an Observer
	plan    atomic.Pointer[plan]

	clients  atomic.Uint64 // number of the last session
	draining atomic.Bool

	updating sync.Mutex     // held by Configure; guards current
	current  Options        // of which Configure changes a part
	retiring sync.WaitGroup // those of retired
	ending   chan struct{}  // closed by Close

	mu       sync.Mutex // guards the fields below
	sessions map[uint64]*Session
	retired  map[*target]struct{} // not in the plan any more, and not over
	closed   bool

	gate      *limit.Gate // before all upstreams
	rates     *limit.Rates
	watches   watches
	counts    counts
	views     views
	conflicts conflicts
	tasks     tasks
	// holdings are the calls that wait for their clients to come back.
	holdings holdings
}

// New makes a gateway. Nothing is opened before it is needed. The error is an
// *OptionError.
func New(o Options) (*Gateway, error) {
	g := &Gateway{
		o: o, current: o, clock: o.Clock, table: route.NewTable[*call](), sessions: make(map[uint64]*Session), retired: make(map[*target]struct{}),
		ending: make(chan struct{}),
	}
	g.gate, g.rates = limit.New(o.Limit), limit.NewRates(o.Rate, o.Burst)
	if g.clock == nil {
		g.clock = engine.SystemClock()
	}
	if g.o.Random == nil {
		g.o.Random = rand.Float64
	}
	p, err := g.newPlan(&o, nil)
	if err != nil {
		return nil, err
	}
	g.plan.Store(p)
	return g, nil
}

// Join begins a session for a client. The transport gives it what the client says and
// calls Gone at the end.
func (g *Gateway) Join(c link.Client) *Session {
	s := &Session{g: g, client: c, peer: c.Peer(), number: g.clients.Add(1)}
	s.limited = limitedAs(&s.peer, s.number)
	g.mu.Lock()
	closed := g.closed
	if !closed {
		g.sessions[s.number] = s
	}
	g.mu.Unlock()
	if closed {
		s.leave(ErrClosed)
		c.End(ErrClosed)
		return s
	}
	g.observe(&Event{Kind: ClientJoined, Client: s.number, Peer: s.peer})
	return s
}

// drainPoll is the pause between two looks at whether all calls are over.
const drainPoll = 10 * time.Millisecond

// Drain takes no new requests and waits until every call is over or ctx ends, whose
// cause it then returns. Close follows.
func (g *Gateway) Drain(ctx context.Context) error {
	g.draining.Store(true)
	g.endListens(nil)
	tick := time.NewTicker(drainPoll)
	defer tick.Stop()
	for g.table.Len() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Draining reports whether Drain or Close was called.
func (g *Gateway) Draining() bool { return g.draining.Load() }

// Close ends every call, session and way to an upstream. It returns when all ways
// have said that they are gone.
func (g *Gateway) Close() error {
	g.draining.Store(true)
	g.mu.Lock()
	if !g.closed {
		g.closed = true
		close(g.ending)
	}
	g.mu.Unlock()
	sessions, targets := g.everySession(), g.everyTarget()
	for _, t := range targets {
		t.close(ErrClosed)
	}
	for _, s := range sessions {
		s.client.End(ErrClosed)
	}
	for _, t := range targets {
		t.wait()
	}
	g.retiring.Wait()
	return nil
}

func (g *Gateway) leave(s *Session) {
	if g.plan.Load().merge {
		defer g.forgetView(s)
	}
	g.mu.Lock()
	delete(g.sessions, s.number)
	g.mu.Unlock()
	for _, t := range g.everyTarget() {
		t.left(s)
	}
}

// observe tells the observer, who may panic.
func (g *Gateway) observe(e *Event) {
	if g.o.Observer == nil {
		return
	}
	defer g.recovered()
	g.o.Observer(*e)
}

func (g *Gateway) recovered() {
	if v := recover(); v != nil {
		g.counts.panics.Add(1)
		if g.o.OnPanic != nil {
			g.o.OnPanic(v, debug.Stack())
		}
	}
}

// dropped counts a message that goes nowhere.
func (g *Gateway) dropped(r Reason, s *Session, b *backend) {
	g.counts.dropped[r].Add(1)
	if b != nil && b.target.o.Relay != nil && b.target.o.Relay.Dropped != nil {
		b.target.o.Relay.Dropped(r)
	}
	if g.o.Observer == nil {
		return
	}
	e := Event{Kind: Dropped, Reason: r}
	if s != nil {
		e.Client, e.Peer = s.number, s.peer
	}
	if b != nil {
		e.Upstream = b.target.o.Name
	}
	g.observe(&e)
}

// NoteDropped counts a message of an upstream that went nowhere between the gateway and its
// server, at the node of a cluster where that lives for one, as if it had come to the
// gateway itself. What is no Reason is not counted.
func (g *Gateway) NoteDropped(upstream string, r Reason) {
	if r == 0 || r >= reasons {
		return
	}
	g.counts.dropped[r].Add(1)
	g.observe(&Event{Kind: Dropped, Reason: r, Upstream: upstream})
}
