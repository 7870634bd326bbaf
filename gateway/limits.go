package gateway

import (
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/gateway/limit"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
)

// DeadlineQueue is how Failure.Deadline names the time that a call may wait before it
// is sent; beside it stand "total" and "idle".
const DeadlineQueue = "queue"

// Deadlines of the calls of one method. Zero is what the upstream has for all of them,
// negative is none.
type Deadlines struct {
	// Queue is how long a call may wait before it is sent, which is no part of the
	// others.
	Queue time.Duration
	// Idle is how long it may hear nothing, and Total how long it may take.
	Idle, Total time.Duration
}

// callLimits are the deadlines of a call with no zero in them: what is not negative
// is a time.
type callLimits struct{ queue, idle, total time.Duration }

// newLimits works out the deadlines of each method that has its own.
func (t *target) newLimits() {
	o := &t.o
	or := func(d, def time.Duration) time.Duration {
		switch {
		case d > 0:
			return d
		case d == 0 && def > 0:
			return def
		}
		return engine.NoTimeout
	}
	queue := o.Limit.QueueWait
	if queue == 0 {
		queue = limit.DefaultQueueWait
	}
	t.limits = callLimits{or(queue, 0), or(o.IdleTimeout, 0), or(o.Timeout, 0)}
	t.byMethod = make(map[string]*callLimits)
	if !o.Plain {
		// It lasts for as long as its client listens.
		t.byMethod[mcp.MethodListen] = &callLimits{t.limits.queue, engine.NoTimeout, engine.NoTimeout}
	}
	for method, d := range o.Methods {
		base, ok := t.byMethod[method]
		if !ok {
			base = &t.limits
		}
		t.byMethod[method] = &callLimits{or(d.Queue, base.queue), or(d.Idle, base.idle), or(d.Total, base.total)}
	}
}

func (t *target) limitsOf(method string) *callLimits {
	if len(t.byMethod) > 0 {
		if l, ok := t.byMethod[method]; ok {
			return l
		}
	}
	return &t.limits
}

// limitedAs is whom limits take a session for. It is what a client cannot choose: its
// identity, or else its address. One without either, on a socket of the file system or
// on standard input, is its connection.
func limitedAs(peer *link.Peer, number uint64) limit.Client {
	c := limit.Client{Name: peer.Identity}
	if c.Name == "" {
		c.Address = place(peer.Address)
	}
	if !peer.Alone {
		c.Number = number
	}
	return c
}

// place is where an address is: without its port, and of an IPv6 address the network of
// 64 bits, all of whose addresses are usually one machine's to choose. Names in the file
// system are no places.
func place(address string) string {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return ""
	}
	ip := at.Addr()
	switch {
	case ip.Is4():
		return address[:strings.LastIndexByte(address, ':')]
	case ip.Is4In6():
		return ip.Unmap().String()
	}
	network, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return "" // it cannot be
	}
	return network.String()
}

// tooFast refuses a call whose client asks too fast; nil lets it go on.
func (s *Session) tooFast(now time.Duration) *Failure {
	ok, again := s.g.rates.Allow(s.limited, now)
	if ok {
		return nil
	}
	return &Failure{Code: CodeBusy, Text: "too many calls a second; come again in " + again.Round(time.Millisecond).String(), RetryAfter: again}
}

// watches has queues' deadlines looked after: one timer for each gate, while somebody
// waits there.
type watches struct {
	mu    sync.Mutex // guards timers
	timer map[*limit.Gate]watched
}

type watched struct {
	at    time.Duration
	timer engine.Timer
}

// watch sees to it that those who wait at gate are refused when their time is over.
func (g *Gateway) watch(gate *limit.Gate) {
	at, ok := gate.Next()
	if !ok {
		return
	}
	g.watches.mu.Lock()
	defer g.watches.mu.Unlock()
	if w, ok := g.watches.timer[gate]; ok {
		if w.at <= at {
			return
		}
		w.timer.Stop()
	}
	if g.watches.timer == nil {
		g.watches.timer = make(map[*limit.Gate]watched)
	}
	g.watches.timer[gate] = watched{at, g.clock.AfterFunc(max(0, at-g.clock.Now()), func() { g.expire(gate, at) })}
}

func (g *Gateway) expire(gate *limit.Gate, at time.Duration) {
	g.watches.mu.Lock()
	if w, ok := g.watches.timer[gate]; ok && w.at == at {
		delete(g.watches.timer, gate)
	}
	g.watches.mu.Unlock()
	var burst link.Burst
	for w, again := range gate.Overdue(g.clock.Now()) {
		w.(*waiting).refuse(&burst, again)
	}
	burst.Flush()
	g.watch(gate)
}
