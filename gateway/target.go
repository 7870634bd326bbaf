package gateway

import (
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/gateway/limit"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
)

// target is one upstream with all the ways to it.
type target struct {
	g *Gateway
	o Upstream
	// older says that the server was of the older era when last heard of.
	older    atomic.Bool
	missed   atomic.Bool // a merged answer was made without it
	gate     *limit.Gate
	breaker  *breaker
	limits   callLimits // of methods that have none of their own
	byMethod map[string]*callLimits
	// ways is how many have a server, or wait for one.
	ways atomic.Int64

	mu       sync.Mutex // guards the fields below
	backends map[link.Key]*backend
	closed   bool
	closing  sync.Once
	work     sync.WaitGroup // goroutines that open ways, and ways that are open
}

func newTarget(g *Gateway, u Upstream) (*target, error) {
	for _, method := range u.Idempotent {
		if method == mcp.MethodCallTool {
			return nil, &OptionError{"Upstreams", u.Name + ": tools/call is never sent again"}
		}
	}
	u = u.withDefaults()
	t := &target{g: g, o: u, gate: limit.New(u.Limit), breaker: newBreaker(u.Breaker), backends: make(map[link.Key]*backend)}
	t.newLimits()
	return t, nil
}

// room is how many calls a way's table takes: never fewer than the gate lets in, with
// the gateway's own and second requests.
func (t *target) room() int {
	if n := t.o.Limit.MaxInFlight; n > 0 && t.o.HedgeAfter <= 0 {
		return n + ownRoom
	}
	return -1
}

// ownRoom is for the calls that the gateway itself makes.
const ownRoom = 1 << 10

// backend is the way that s uses.
func (t *target) backend(s *Session) *backend {
	if b := s.way.Load(); b != nil && b.target == t && !b.dead.Load() {
		return b
	}
	k, own := t.key(s)
	b, isNew := t.find(k, own)
	if isNew && own != nil && s.isGone() {
		t.left(s) // nobody else would end it
	}
	s.way.Store(b)
	return b
}

func (t *target) find(k link.Key, own *Session) (b *backend, isNew bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b = t.backends[k]; b != nil {
		return b, false
	}
	b = newBackend(t, k, own)
	if t.closed {
		b.ended = true
		b.dead.Store(true)
	} else {
		t.backends[k] = b
	}
	return b, true
}

// key tells which way s uses, and whether it is its own.
func (t *target) key(s *Session) (k link.Key, own *Session) {
	switch {
	case t.o.Isolation == Shared:
		return link.Key{}, nil
	case t.o.Isolation == PerIdentity, s.peer.Alone:
		// An exchange of the modern era has no session; its server keeps none either.
		return link.Key{Identity: s.peer.Identity}, nil
	case s.peer.Session != "":
		return link.Key{Identity: s.peer.Identity, Session: s.peer.Session}, s
	}
	return link.Key{Identity: s.peer.Identity, Session: sessionName(s.number)}, s
}

// left ends the way that was the session's own.
func (t *target) left(s *Session) {
	k, own := t.key(s)
	if own == nil {
		t.mu.Lock()
		b := t.backends[k]
		t.mu.Unlock()
		if b != nil {
			b.hub.left(s)
			b.levels.left(s)
		}
		return
	}
	t.mu.Lock()
	b := t.backends[k]
	if b == nil || t.closed { // close ends them all
		t.mu.Unlock()
		return
	}
	delete(t.backends, k)
	t.work.Add(1)
	t.mu.Unlock()
	defer t.work.Done()
	b.close(errClientGone)
}

// close ends all ways, once: whoever comes second, a reload or the end of the gateway,
// returns when that is done, so that wait comes after all that it waits for has begun.
func (t *target) close(why error) {
	t.closing.Do(func() {
		t.mu.Lock()
		t.closed = true
		t.mu.Unlock()
		for _, b := range t.all() {
			b.close(why)
		}
	})
}

// all are the ways that there are.
func (t *target) all() []*backend {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]*backend, 0, len(t.backends))
	for _, b := range t.backends {
		out = append(out, b)
	}
	return out
}

func (t *target) wait() { t.work.Wait() }
