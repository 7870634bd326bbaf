package gateway

import (
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/limit"
	"github.com/correlator-go/correlator/gateway/link"
)

// waiting is a call that waits: for a place at its upstream or in the whole gateway,
// for the upstream to be open, or for it to read on. It has its message with it.
//
// Whoever ends the wait, be it that what was waited for has come, that the time is
// over or that the call was cancelled, withdraws the ticket first; of all who try one
// succeeds, and has the call.
type waiting struct {
	call    *call
	backend *backend
	message codec.Message
	edits   []codec.Edit
	at      stage
	// tickets are for the gate of the upstream, for that of the gateway, and for being
	// held. Each is always used at the same gate.
	tickets [3]limit.Ticket
	place   int // among the parked
}

// stage is what a call waits for.
type stage uint8

const (
	atUpstream stage = iota // a place at the upstream
	atGateway               // a place in the gateway
	held                    // the upstream to be open, or to read
)

func newWaiting(b *backend, c *call, m *codec.Message, edits []codec.Edit) *waiting {
	w := &waiting{call: c, backend: b, message: m.Detach(), edits: cloneEdits(edits)}
	c.waits.Store(w)
	return w
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

func (w *waiting) gate(at stage) *limit.Gate {
	if at == atGateway {
		return w.backend.target.g.gate
	}
	return w.backend.target.gate
}

// withdraw ends the wait, whatever it is for; false says that somebody else did.
func (w *waiting) withdraw() bool {
	for at := range w.tickets {
		if w.gate(stage(at)).Withdraw(&w.tickets[at]) {
			return true
		}
	}
	return false
}

// left is how long the call may still wait; negative is for ever.
func (c *call) left(now time.Duration) time.Duration {
	if c.limits.queue < 0 {
		return -1
	}
	return max(1, c.limits.queue-(now-c.queued))
}

// admit takes a new call through the gates, and on to the upstream.
func (b *backend) admit(burst *link.Burst, c *call, m *codec.Message, edits []codec.Edit) {
	g, t := b.target.g, b.target
	c.backend.Store(b)
	b.used(c.begun)
	c.queued = c.begun
	c.limits = t.limitsOf(c.method)
	if f := t.breaker.refuses(t.o.Name); f != nil {
		c.refuse(burst, f)
		return
	}
	c.permitted = t.breaker != nil
	if !t.gate.Try() {
		newWaiting(b, c, m, edits).wait(burst, atUpstream)
		return
	}
	c.places = 1
	if !g.gate.Try() {
		newWaiting(b, c, m, edits).wait(burst, atGateway)
		return
	}
	c.places = 2
	b.start(burst, c, m, edits, nil)
}

// wait queues w at a gate that has no place for it.
func (w *waiting) wait(burst *link.Burst, at stage) {
	c, gate := w.call, w.gate(at)
	w.at = at
	now := w.backend.target.g.clock.Now()
	switch gate.Wait(&w.tickets[at], c.session.limited, w, now, c.left(now)) {
	case limit.Admitted:
		w.enter(burst)
	case limit.Queued:
		w.backend.target.g.watch(gate)
		if c.giveUp.Load() != nil {
			c.withdraw()
		}
	default:
		c.refuse(burst, w.backend.busy("too many calls wait for it"))
	}
}

// Enter implements limit.Waiter.
func (w *waiting) Enter(time.Duration) { w.enter(nil) }

func (w *waiting) enter(burst *link.Burst) {
	c, b := w.call, w.backend
	c.places++
	switch why := c.giveUp.Load(); {
	case why != nil:
		c.over.Store(true)
		c.stop(why.err)
	case w.at == atUpstream && !b.target.g.gate.Try():
		w.wait(burst, atGateway)
	case w.at == atUpstream:
		c.places++
		fallthrough
	default:
		b.start(burst, c, &w.message, w.edits, w)
	}
}

// Refuse implements limit.Waiter.
func (w *waiting) Refuse(_ limit.Verdict, again time.Duration) { w.refuse(nil, again) }

// refuse ends a wait whose time is over.
func (w *waiting) refuse(burst *link.Burst, again time.Duration) {
	c, b := w.call, w.backend
	if w.at == held {
		b.unpark(w)
	}
	why := [...]string{"as many calls of others were in flight as it may have", "as many calls of others were in flight as the gateway may have", "it was not connected, or did not read"}[w.at]
	elapsed := b.target.g.clock.Now() - c.begun
	c.fail(burst, Expired, &Failure{
		Code: CodeTimeout, Upstream: b.target.o.Name, Deadline: DeadlineQueue, Elapsed: elapsed, RetryAfter: again, Method: c.method,
		Text: "upstream \"" + b.target.o.Name + "\": " + c.method + " waited for " + elapsed.Round(time.Millisecond).String() + ": " + why,
	})
}

// withdraw ends a call that was cancelled while it waits; nothing if it does not.
func (c *call) withdraw() {
	w := c.waits.Load()
	if w == nil || !w.withdraw() {
		return
	}
	if w.at == held {
		w.backend.unpark(w)
	}
	c.over.Store(true)
	c.stop(c.giveUp.Load().err)
}

// fail ends a call of which no engine knows, unless it was cancelled.
func (c *call) fail(b *link.Burst, o Outcome, f *Failure) {
	c.over.Store(true)
	if !c.giveUp.CompareAndSwap(nil, finished) {
		c.stop(c.giveUp.Load().err)
		return
	}
	c.unanswered(b, o, f)
}

// free gives the call's places to the next ones, when it is over.
func (c *call) free() {
	c.forget()
	if c.places == 0 {
		return
	}
	t := c.backend.Load().target
	if c.places > 1 {
		t.g.gate.Leave(t.g.clock.Now)
	}
	t.gate.Leave(t.g.clock.Now)
	c.places = 0
}
