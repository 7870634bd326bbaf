package gateway

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/gateway/link"
)

// backend is one way to an upstream that some clients share, through all the times
// that it is lost and opened again. Its engine lives as long, so that a number never
// means two calls, whatever a server says after a restart.
//
//	unused ──first call──▶ opening ──▶ up ──lost──▶ pausing ──▶ opening …
//	                          └──failed──▶ pausing
type backend struct {
	target *target
	key    link.Key
	// session is who alone uses it; nil when others do, too.
	session *Session
	engine  *engine.Engine[*arrival]
	live    atomic.Pointer[life] // nil while it is not up
	full    atomic.Bool          // it did not read, and calls wait for it: set and cleared under mu
	dead    atomic.Bool          // it has ended: who uses it looks for another
	skew    time.Duration        // by which the gateway's clock is ahead of the engine's
	ctx     context.Context      // ends with the backend
	stop    context.CancelFunc

	lastUse atomic.Int64 // when a call came, see used
	// subscribed says that a resource was subscribed to, so that the way does not rest.
	subscribed atomic.Bool

	mu      sync.Mutex // guards the fields below
	opening bool       // a goroutine sees to it
	placed  bool       // it is one of target.ways
	leaving *life      // it rests: its server is being ended
	idle    engine.Timer
	ended   bool
	why     error // of ended
	parked  parking
	greeting
	asks map[codec.ID]*ask // requests of the server that a client has not answered

	late      link.Burst   // of the goroutine on which calls expire
	heard     atomic.Int64 // when the server last said anything, by the clock; 0 is never
	unmatched atomic.Uint64

	owners owners
	claims claims
	hub    hub
	levels levels
	notes  notes
	eras   atomic.Uint32 // which the server speaks
}

func newBackend(t *target, k link.Key, s *Session) *backend {
	b := &backend{target: t, key: k, session: s}
	b.hub.b, b.levels.b = b, b
	b.ctx, b.stop = context.WithCancel(context.Background())
	table, err := engine.New(engine.Options[*arrival]{
		MaxPending: t.room(), Clock: t.g.o.Clock, OnPanic: t.g.o.OnPanic, Expiring: b.expiring,
	})
	if err != nil {
		panic("gateway: " + err.Error()) // options that New has checked
	}
	b.engine = table
	began := table.Now()
	b.skew = t.g.clock.Now() - began
	return b
}

// retryAfter is what clients are told where nothing better is known.
const retryAfter = time.Second

func (b *backend) busy(why string) *Failure {
	return &Failure{
		Code: CodeBusy, Text: "upstream \"" + b.target.o.Name + "\" is busy: " + why, Upstream: b.target.o.Name, RetryAfter: b.target.gate.RetryAfter(),
	}
}

// send registers a call and hands its request to the way l. w is what the call waited
// as, nil if it did not. True says that the server does not read, so that the call
// waits once more.
func (b *backend) send(l *life, burst *link.Burst, c *call, m *codec.Message, edits []codec.Edit, w *waiting) (full bool) {
	if !b.target.o.Plain && (b.greet(l, burst, c, m) || b.handles(burst, c, m)) {
		return false
	}
	if !b.target.o.Plain {
		m, edits = b.translate(c, m, edits)
	}
	c.sent, c.owned = b.target.g.clock.Now(), c.hears() || l.streams
	if b.session == nil && !l.streams && !b.target.o.Plain {
		b.claim(c)
	}
	b.keep(c, m, edits)
	id, number := b.register(burst, c)
	if id.IsAbsent() {
		return false
	}
	out := outgoings.Get().(*outgoing)
	defer out.put()
	out.rewrite.Request(m, number)
	if c.limits.idle > 0 && c.token.IsNone() && !b.target.o.Plain {
		out.rewrite.Ask(m, number)
	}
	out.rewrite.Add(edits)
	out.frame = link.Frame{Bytes: m.Frame(), Edits: out.rewrite.Edits, Call: number, Class: link.Ask}
	switch err := l.up.Send(&out.frame, burst); {
	case err == nil:
		c.hedge(l)
	case errors.Is(err, link.ErrFull):
		if w == nil {
			w = newWaiting(b, c, m, edits)
		}
		c.sentOnce()
		b.full.Store(true)
		b.engine.Reject(id, &unsentError{w})
		return true
	default:
		f := &Failure{Code: CodeUpstreamLost, Text: "upstream \"" + b.target.o.Name + "\": " + words(err), Upstream: b.target.o.Name}
		if !errors.Is(err, link.ErrGone) {
			f.Cause = Unsendable
		}
		b.engine.Reject(id, f)
	}
	return false
}

// register gives a call a number; an absent id says that it is over.
func (b *backend) register(burst *link.Burst, c *call) (codec.ID, int64) {
	n := takeNotifier(c)
	begun, err := b.engine.Begin(b.ctx, engine.CallOptions[*arrival]{
		Method: c.method, Notify: n.fire, NoWait: true, Started: c.sent - b.skew, Timeout: c.total(), IdleTimeout: c.limits.idle,
	})
	if err != nil {
		n.put()
		if c.claimed {
			b.unclaim(c, engine.Failed)
		}
		c.over.Store(true)
		c.refuse(burst, b.busy("too many calls are in flight"))
		return codec.ID{}, 0
	}
	id := begun.ID()
	if id.IsAbsent() {
		return id, 0 // the engine was closed, and the call has been told
	}
	number, _ := id.Int()
	if c.owned {
		b.owners.own(number, c)
	}
	if c.owned && !b.engine.Touch(id) {
		b.owners.disown(number) // it ended meanwhile, perhaps to be sent again
	}
	c.number.Store(number)
	if why := c.giveUp.Load(); why != nil {
		b.engine.Cancel(id, why.err)
		return codec.ID{}, 0
	}
	return id, number
}

// expiring has the answers to what expires together written together.
func (b *backend) expiring(on bool) {
	if !on {
		b.late.Flush()
	}
}

// unsentError ends the registration of a call that could not be written, not the call.
type unsentError struct{ waiting *waiting }

func (*unsentError) Error() string { return "gateway: the server does not read" }

// cancel tells the upstream that a call is over.
func (b *backend) cancel(number int64, c link.Cancel) {
	if l := b.current(); l != nil {
		l.up.Cancel(number, c)
	}
}

func (b *backend) disown(number int64) { b.owners.disown(number) }

// owners finds the call that a notification of the upstream is about. Calls that ask
// for none are not in it.
type owners struct {
	mu    sync.Mutex // guards calls
	calls map[int64]*call
}

// own adds c, unless it is over: who ends a call sets over and then disowns it.
func (o *owners) own(number int64, c *call) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.calls == nil {
		o.calls = make(map[int64]*call)
	}
	if !c.over.Load() {
		o.calls[number] = c
	}
}

func (o *owners) disown(number int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.calls, number)
}

func (o *owners) find(number int64) *call {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.calls[number]
}
