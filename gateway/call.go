package gateway

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/route"
	"github.com/correlator-go/correlator/mcp"
)

// call is one request of a client, from when it came in until its client is answered.
// It is never used for another one, so whoever still holds it when it is over does no
// harm.
//
//	waiting ──sent──▶ pending ──answered, expired, cancelled, lost──▶ over
//	   └──────────────cancelled, refused, upstream not opened─────────▶ over
type call struct {
	session *Session
	id      route.Echo // the client's
	token   route.Echo // of its progress; none if it asked for none
	method  string
	tool    string        // or prompt; "" if nobody observes
	begun   time.Duration // when it came in
	sent    time.Duration // when it was registered

	backend atomic.Pointer[backend]
	// number is the id by which the upstream knows it, 0 before it has one. Who stores
	// it looks at giveUp afterwards; who stores giveUp looks at number afterwards.
	number atomic.Int64
	giveUp atomic.Pointer[reasonToStop]
	over   atomic.Bool
	taken  atomic.Bool // it is ended by the gateway itself: see take
	// rare is what few calls have; nil of the others.
	rare      atomic.Pointer[rare]
	modern    bool  // it says of itself that it is of the modern era
	claimed   bool  // its backend counts it among what the server is at work for
	owned     bool  // the backend finds it by its number; set before it has one
	permitted bool  // by the breaker, which is told of its end
	places    uint8 // that it has: one at its upstream, two with that in the gateway
	limits    *callLimits
	queued    time.Duration // when it began to wait
	waits     atomic.Pointer[waiting]
	// repeat is of a call that may be sent again, or twice; nil of all others.
	repeat *repeat
	// told says who tells the upstream that the call was cancelled; see cancel.
	told atomic.Uint32

	prev, next *call // guarded by session.mu
}

// key names the call in the table.
func (c *call) key() route.Key { return route.Key{Client: c.session.number, ID: c.id.ID()} }

type reasonToStop struct{ err error }

// States of told. The end of the call, and who cancelled it, each step forward once;
// whoever comes second knows both whether the request was sent and in what words it
// was cancelled, and tells the upstream.
const (
	toldNothing   uint32 = iota
	toldSent             // the call ended cancelled, and had been sent
	toldUnsent           // it ended otherwise, or had not been sent
	toldCancelled        // who cancelled it has left, without words
)

// hears reports whether notifications of the upstream can be about the call.
func (c *call) hears() bool { return !c.token.IsNone() || c.method == mcp.MethodListen }

// callList is a list of calls; its owner's lock guards it.
type callList struct{ first *call }

func (l *callList) empty() bool { return l.first == nil }

func (l *callList) add(c *call) {
	if c.next = l.first; c.next != nil {
		c.next.prev = c
	}
	l.first = c
}

func (l *callList) remove(c *call) {
	if c.prev != nil {
		c.prev.next = c.next
	} else if l.first == c {
		l.first = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	}
	c.prev, c.next = nil, nil
}

// leave takes c out of the table and out of its session's list, so that its client may
// use the id again.
func (c *call) leave() {
	if c.asPart() == nil {
		c.depart()
	}
}

func (c *call) depart() {
	s := c.session
	s.g.table.Remove(c.key())
	s.forgo(c.id.ID())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls.remove(c)
	s.telling++
}

// toldClient follows leave when the client has been given what there is to say: until then the
// session is not idle, or a client that has closed its side would be let go of unheard.
func (c *call) toldClient() {
	if c.asPart() == nil {
		c.session.told()
	}
}

// notifier carries an outcome from an engine to a call. One serves many calls, one
// after the other, so that a call needs no closure of its own.
type notifier struct {
	call *call
	fire func(engine.Outcome[*arrival])
}

var notifiers sync.Pool

func takeNotifier(c *call) *notifier {
	n, ok := notifiers.Get().(*notifier)
	if !ok {
		n = &notifier{}
		n.fire = n.deliver
	}
	n.call = c
	return n
}

func (n *notifier) deliver(o engine.Outcome[*arrival]) {
	c := n.call
	n.put()
	c.settled(&o)
}

func (n *notifier) put() {
	n.call = nil
	notifiers.Put(n)
}

// outgoing is a frame and what its edits lie in.
type outgoing struct {
	frame   link.Frame
	rewrite route.Rewrite
}

var outgoings = sync.Pool{New: func() any { return new(outgoing) }}

func (o *outgoing) put() {
	o.frame = link.Frame{}
	outgoings.Put(o)
}

// settled ends the call with what its engine says of it, once, unless it is sent again.
func (c *call) settled(o *engine.Outcome[*arrival]) {
	b := c.backend.Load()
	number, _ := o.ID.Int()
	if c.repeat != nil && c.repeat.primary != nil {
		c.settledTwin(b, number, o)
		return
	}
	if unsent, ok := o.Err.(*unsentError); ok { //nolint:errorlint // as it is made
		c.release(b, number, o)
		b.back(unsent.waiting)
		return
	}
	if c.again(b, number, o) {
		return
	}
	c.over.Store(true)
	c.release(b, number, o)
	if h := c.second(); h != nil {
		h.stop(b)
	}
	if o.Status == engine.Resolved {
		c.answer(o)
		return
	}
	ended, _ := errors.AsType[*engine.CallError](o.Err)
	sent := ended != nil && ended.Sent
	switch o.Status {
	case engine.Expired:
		if sent {
			b.cancel(number, link.Cancel{Expired: true})
		}
		c.end(&b.late, Expired, nil, b.failure(c, o.Err).answer())
	case engine.Cancelled:
		next := toldUnsent
		if sent {
			next = toldSent
		}
		if !c.told.CompareAndSwap(toldNothing, next) && sent {
			b.cancel(number, link.Cancel{}) // who cancelled it did not wait for this
		}
		c.stop(ended.Err)
	default:
		outcome, burst := Lost, (*link.Burst)(nil)
		if together, ok := errors.AsType[*losing](o.Err); ok {
			burst = &together.burst
		}
		if f, ok := errors.AsType[*Failure](o.Err); ok && f.Code == CodeBusy {
			outcome = Refused
		}
		c.unanswered(burst, outcome, b.failure(c, o.Err))
	}
}

// unanswered ends the call without an answer of its server. A client that is a gateway is told
// why as it is, since it has clients of its own to tell.
func (c *call) unanswered(b *link.Burst, outcome Outcome, f *Failure) {
	c.cause(f.Cause)
	relay, ok := c.session.client.(link.Relay)
	if !ok || c.asPart() != nil {
		c.end(b, outcome, nil, f.answer())
		return
	}
	c.leave()
	c.count(outcome, f)
	relay.Fail(c.id.ID(), f)
	c.toldClient()
	c.free()
}

// cause notes why it was lost while its way goes on, if that is so.
func (c *call) cause(why Cause) {
	if why != "" {
		c.more().cause = why
	}
}

// release ends what its number means.
func (c *call) release(b *backend, number int64, o *engine.Outcome[*arrival]) {
	if c.owned {
		b.disown(number)
	}
	if c.claimed {
		c.claimed = false
		b.unclaim(c, o.Status)
	}
}

// answer passes the upstream's answer on.
func (c *call) answer(o *engine.Outcome[*arrival]) {
	a := o.Value
	m, burst := a.take()
	defer a.done()
	if r := c.rare.Load(); r != nil && r.rounds != nil && m.Kind == codec.KindResult && c.wants(m.Result()) {
		return
	}
	if e := c.unknownToOlder(m); e != nil {
		c.end(burst, Failed, nil, e)
		return
	}
	m = c.backend.Load().target.shown(c.method, m)
	c.leave()
	if p := c.asPart(); p != nil {
		p.ended(m.Result(), m.Err())
		c.free()
		return
	}
	outcome := Answered
	if m.Kind == codec.KindError {
		outcome = Failed
	} else if b := c.backend.Load(); b.eras.Load()&speaksTasks != 0 {
		b.noteTask(c, m.Result())
	}
	number, _ := o.ID.Int()
	out := outgoings.Get().(*outgoing)
	defer out.put()
	out.frame.About = c.id.ID()
	if c.modern && c.backend.Load().isOlderOnly() {
		result, failed := modernAnswer(c.method, m.Result(), m.Err())
		out.frame.Bytes = c.appendAnswer(nil, result, failed)
	} else if route.IsOdd(m) {
		out.frame.Bytes = route.AppendPlain(nil, m, c.id)
	} else {
		out.rewrite.Answer(m, number, c.id)
		out.frame.Bytes, out.frame.Edits = m.Frame(), out.rewrite.Edits
	}
	c.count(outcome, c.whyFailed(m))
	c.deliver(burst, &out.frame)
	c.toldClient()
	if b := c.backend.Load(); c.second() != nil && m.Envelope.IntID != number {
		b.cancel(number, link.Cancel{}) // the second request was answered first
	}
	c.free()
}

// end answers in the upstream's place: with an error, or with result.
func (c *call) end(b *link.Burst, outcome Outcome, result []byte, e *codec.Error) {
	c.leave()
	if p := c.asPart(); p != nil {
		p.ended(result, e)
		c.free()
		return
	}
	if e != nil {
		c.count(outcome, e)
	} else {
		c.count(outcome, nil)
	}
	c.deliver(b, &link.Frame{Bytes: c.appendAnswer(nil, result, e), About: c.id.ID()})
	c.toldClient()
	c.free()
}

// appendAnswer appends an answer to the client's request: e, or result.
func (c *call) appendAnswer(dst, result []byte, e *codec.Error) []byte {
	var scratch [64]byte
	raw := c.id.Append(scratch[:0])
	if e != nil {
		return codec.AppendError(dst, raw, e)
	}
	return codec.AppendResult(dst, raw, result)
}

func (c *call) refuse(b *link.Burst, f *Failure) { c.unanswered(b, Refused, f) }

// stop ends a call that was cancelled: its client is told only if it was somebody
// else who did it.
func (c *call) stop(why error) {
	if p := c.asPart(); p != nil {
		p.ended(nil, failureOf(c.backend.Load().target.o.Name, c.method, why).answer())
		c.free()
		return
	}
	if errors.Is(why, errListenOver) {
		c.end(nil, Answered, c.listenResult(), nil)
		return
	}
	if errors.Is(why, errPlainCancelled) {
		c.end(nil, Cancelled, nil, &codec.Error{Code: codeCancelled, Message: "the request was cancelled"})
		return
	}
	if !errors.Is(why, ErrOperator) {
		c.leave()
		c.count(Cancelled, why)
		c.unbatch()
		if f, ok := c.session.client.(link.Forgetter); ok {
			f.Forget(c.id.ID())
		}
		c.toldClient()
		c.free()
		return
	}
	f := &Failure{Code: codec.CodeInternal, Text: "cancelled by an operator"}
	if b := c.backend.Load(); b != nil {
		f.Upstream = b.target.o.Name
	}
	c.end(nil, Cancelled, nil, f.answer())
}

// count notes that the call is over.
func (c *call) count(o Outcome, err error) {
	g := c.session.g
	g.counts.ended(o)
	if c.permitted {
		c.backend.Load().target.breaker.note(o)
	}
	if g.o.Observer == nil {
		return
	}
	e := Event{Kind: CallEnded, Client: c.session.number, Peer: c.session.peer, ID: c.id.ID(), Method: c.method, Tool: c.tool, Outcome: o, Err: err}
	if r := c.rare.Load(); r != nil {
		e.Span = r.span
		if o == Lost {
			e.Cause = r.cause
		}
	}
	if b := c.backend.Load(); b != nil {
		e.Upstream = b.target.o.Name
		if now := g.clock.Now(); c.number.Load() != 0 {
			e.Waited, e.Took, e.Sent = c.sent-c.begun, now-c.sent, true
		} else {
			e.Waited = now - c.begun
		}
	} else {
		e.Took = g.clock.Now() - c.begun // the gateway's own answer
	}
	g.observe(&e)
}

// cancel ends the call for its client. note is the client's own cancel, which goes to
// the upstream with the id that it knows, nil if there is none. False says that the
// call is over already.
func (c *call) cancel(why error, b *link.Burst, note *codec.Message) bool {
	if c.over.Load() || !c.giveUp.CompareAndSwap(nil, &reasonToStop{why}) {
		return false
	}
	to := c.backend.Load()
	number := c.number.Load()
	if to == nil || number == 0 {
		switch {
		case c.taken.Load():
			c.abandon(why)
		case to != nil:
			c.withdraw()
		}
		return true // who parks it, takes it or sends it, looks at giveUp
	}
	if !to.engine.Cancel(codec.IntID(number), why) {
		return !c.over.Load() // it may be about to be sent again, which sees giveUp
	}
	if c.told.CompareAndSwap(toldNothing, toldCancelled) || c.told.Load() != toldSent {
		return true
	}
	if note == nil {
		to.cancel(number, link.Cancel{})
		return true
	}
	out := outgoings.Get().(*outgoing)
	defer out.put()
	out.rewrite.Cancelled(note, number)
	out.frame = link.Frame{Bytes: note.Frame(), Edits: out.rewrite.Edits, Class: link.Ask}
	to.cancel(number, link.Cancel{Note: &out.frame})
	return true
}
