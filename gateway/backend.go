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
	"github.com/correlator-go/correlator/mcp"
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
	dead    atomic.Bool          // it has ended: who uses it looks for another
	ctx     context.Context      // ends with the backend
	stop    context.CancelFunc

	lastUse atomic.Int64         // when a call came, see used

	mu      sync.Mutex // guards the fields below
	opening bool       // a goroutine sees to it
	placed  bool       // it is one of target.ways
	leaving *life      // it rests: its server is being ended
	idle    engine.Timer
	ended   bool
	parked  []parkedCall
	greeting
	asks map[codec.ID]*ask // requests of the server that a client has not answered

	owners owners
	claims claims
	hub    hub
	eras   atomic.Uint32 // which the server speaks
}

// parkedCall waits for the upstream to be open.
type parkedCall struct {
	call    *call
	message codec.Message
	edits   []codec.Edit
}

func newBackend(t *target, k link.Key, s *Session) *backend {
	b := &backend{target: t, key: k, session: s}
	b.hub.b = b
	b.ctx, b.stop = context.WithCancel(context.Background())
	table, err := engine.New(engine.Options[*arrival]{
		MaxPending: t.o.MaxPending, Timeout: t.o.Timeout, IdleTimeout: t.o.IdleTimeout, Clock: t.g.o.Clock, OnPanic: t.g.o.OnPanic,
	})
	if err != nil {
		panic("gateway: " + err.Error()) // options that New has checked
	}
	b.engine = table
	return b
}

// begin sends a call, now or when the upstream is open.
func (b *backend) begin(burst *link.Burst, c *call, m *codec.Message, edits []codec.Edit) {
	c.backend.Store(b)
	b.used(c.begun)
	if l := b.live.Load(); l != nil {
		b.send(l, burst, c, m, edits)
		return
	}
	b.mu.Lock()
	l := b.live.Load()
	refusal := (*Failure)(nil)
	switch {
	case l != nil:
	case b.ended:
		refusal = &Failure{Code: CodeStopping, Text: "the gateway is shutting down", Upstream: b.target.o.Name}
	case len(b.parked) >= b.target.o.MaxWaiting:
		refusal = b.busy("too many calls wait for it")
	case !b.placeLocked():
		refusal = b.busy("as many ways to it are in use as there may be")
	default:
		b.greeting.hear(b, c, m)
		b.parked = append(b.parked, parkedCall{c, m.Detach(), cloneEdits(edits)})
		b.openLocked()
	}
	b.mu.Unlock()
	switch {
	case l != nil:
		b.send(l, burst, c, m, edits)
	case refusal != nil:
		c.refuse(burst, refusal)
	case c.giveUp.Load() != nil:
		b.unpark(c)
	}
}

func cloneEdits(edits []codec.Edit) []codec.Edit {
	if len(edits) == 0 {
		return nil
	}
	out := make([]codec.Edit, len(edits))
	for i, e := range edits {
		out[i] = codec.Edit{Span: e.Span, Text: append([]byte(nil), e.Text...)}
	}
	return out
}

// retryAfter is what clients are told that find a limit used up.
const retryAfter = time.Second

func (b *backend) busy(why string) *Failure {
	return &Failure{Code: CodeBusy, Text: "upstream \"" + b.target.o.Name + "\" is busy: " + why, Upstream: b.target.o.Name, RetryAfter: retryAfter}
}

// unpark ends a call that its client has cancelled while it waited.
func (b *backend) unpark(c *call) {
	b.mu.Lock()
	found := false
	for i := range b.parked {
		if b.parked[i].call == c {
			b.parked = append(b.parked[:i], b.parked[i+1:]...)
			found = true
			break
		}
	}
	b.mu.Unlock()
	if found {
		c.over.Store(true)
		c.stop(c.giveUp.Load().err)
	}
}

// send registers a call and hands its request to the way l.
func (b *backend) send(l *life, burst *link.Burst, c *call, m *codec.Message, edits []codec.Edit) {
	if !b.target.o.Plain && (b.greet(l, burst, c, m) || b.handles(burst, c, m)) {
		return
	}
	n := takeNotifier(c)
	c.sent, c.owned = b.target.g.clock.Now(), c.hears() || l.streams
	if b.session == nil && !l.streams && !b.target.o.Plain {
		b.claim(c)
	}
	o := engine.CallOptions[*arrival]{Method: c.method, Notify: n.fire, NoWait: true, Started: b.engine.Now()}
	if c.method == mcp.MethodListen && !b.target.o.Plain {
		o.Timeout, o.IdleTimeout = engine.NoTimeout, engine.NoTimeout // it lasts for as long as its client listens
	}
	begun, err := b.engine.Begin(b.ctx, o)
	if err != nil {
		n.put()
		if c.claimed {
			b.unclaim(c, engine.Failed)
		}
		c.refuse(burst, b.busy("too many calls are in flight"))
		return
	}
	id := begun.ID()
	if id.IsAbsent() {
		return // the engine was closed, and the call has been told
	}
	number, _ := id.Int()
	if c.owned {
		b.owners.own(number, c)
	}
	c.number.Store(number)
	if why := c.giveUp.Load(); why != nil {
		b.engine.Cancel(id, why.err)
		return
	}
	out := outgoings.Get().(*outgoing)
	defer out.put()
	out.rewrite.Request(m, number)
	out.rewrite.Add(edits)
	out.frame = link.Frame{Bytes: m.Frame(), Edits: out.rewrite.Edits, Call: number, Class: link.Ask}
	switch err := l.up.Send(&out.frame, burst); {
	case err == nil:
	case errors.Is(err, link.ErrFull):
		b.engine.Reject(id, b.busy("it does not read fast enough"))
	default:
		b.engine.Reject(id, &Failure{Code: CodeUpstreamLost, Text: "upstream \"" + b.target.o.Name + "\": " + err.Error(), Upstream: b.target.o.Name})
	}
}

// cancel tells the upstream that a call is over.
func (b *backend) cancel(number int64, c link.Cancel) {
	if l := b.live.Load(); l != nil {
		l.up.Cancel(number, c)
	}
}

func (b *backend) disown(number int64) { b.owners.disown(number) }

// note passes on a notification of the one client that uses the backend.
func (b *backend) note(burst *link.Burst, m *codec.Message) {
	l := b.live.Load()
	if l == nil {
		b.target.g.dropped(ClientOnlyNote, b.session, b)
		return
	}
	_ = l.up.Send(&link.Frame{Bytes: m.Frame(), Class: link.Note}, burst)
}

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
