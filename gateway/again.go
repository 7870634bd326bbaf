package gateway

import (
	"slices"
	"sync"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
)

// DefaultRetries is how often a call that only reads is sent again.
const DefaultRetries = 1

// reads are the methods of MCP that change nothing, so that asking twice is asking
// once. tools/call is none of them, whatever a tool says of itself.
var reads = []string{
	mcp.MethodListTools, mcp.MethodListResources, mcp.MethodListTemplates, mcp.MethodReadResource, mcp.MethodListPrompts, mcp.MethodGetPrompt,
	mcp.MethodComplete, mcp.MethodDiscover, "tasks/get", "tasks/list",
}

// mayRepeat reports whether a call may go to the server twice.
func (t *target) mayRepeat(method string) bool {
	if t.o.Retries == 0 && t.o.HedgeAfter <= 0 {
		return false
	}
	if t.o.Idempotent != nil || t.o.Plain {
		return slices.Contains(t.o.Idempotent, method)
	}
	return slices.Contains(reads, method)
}

// request is a client's request, kept to be sent again: it has the router's edits and
// the client's own id.
type request struct{ frame []byte }

// requests are kept ones of calls that are over; where calls are hedged, a timer may
// still look at one, so that those are left to the collector.
var requests = sync.Pool{New: func() any { return new(request) }}

// requestKeep bounds the memory that is kept for the next one.
const requestKeep = 64 << 10

// keep keeps the request, if it may be sent again.
func (b *backend) keep(c *call, m *codec.Message, edits []codec.Edit) {
	if c.kept != nil {
		c.sending.Store(true)
		return
	}
	if !b.target.mayRepeat(c.method) {
		return
	}
	if b.target.o.HedgeAfter > 0 {
		c.kept = new(request)
	} else {
		c.kept = requests.Get().(*request)
	}
	c.kept.frame = codec.AppendSplice(c.kept.frame[:0], m.Frame(), edits...)
	c.sending.Store(true)
}

// forget lets go of the kept request, when the call is over.
func (c *call) forget() {
	k := c.kept
	if k == nil || c.backend.Load().target.o.HedgeAfter > 0 {
		return
	}
	c.kept = nil
	if cap(k.frame) <= requestKeep {
		requests.Put(k)
	}
}

// total is the time that the call may still take, what it has had taken off.
func (c *call) total() time.Duration {
	if c.limits.total < 0 {
		return engine.NoTimeout
	}
	return max(1, c.limits.total-c.spent)
}

// again sends a call once more that got no answer since the server went, or its
// request was lost; false says that it may not. What may change something is never
// sent again, and neither is what somebody is in the middle of sending.
func (c *call) again(b *backend, number int64, o *engine.Outcome[*arrival]) bool {
	if c.kept == nil || int(c.tries) >= b.target.o.Retries || c.sending.Load() || c.number.Load() != number || b.dead.Load() || c.giveUp.Load() != nil {
		return false
	}
	switch o.Status {
	case engine.Failed:
	case engine.Rejected:
		if _, ours := o.Err.(*Failure); ours { //nolint:errorlint // as the gateway made it, which wraps nothing
			return false
		}
	default:
		return false
	}
	m, err := codec.Parse(c.kept.frame, codec.ScanOptions{})
	if err != nil {
		return false
	}
	c.spent += b.target.g.clock.Now() - c.sent
	if c.limits.total > 0 && c.spent >= c.limits.total {
		return false
	}
	c.release(b, number, o)
	c.tries++
	c.number.Store(0)
	b.target.g.counts.retried.Add(1)
	w := newWaiting(b, c, &m, nil)
	if o.Status == engine.Failed {
		c.queued = b.target.g.clock.Now()
		b.start(nil, c, &m, nil, w)
		return true
	}
	b.later(w, b.backoff(int(c.tries)))
	return true
}

// later sends w after a pause.
func (b *backend) later(w *waiting, pause time.Duration) {
	c, clock := w.call, b.target.g.clock
	c.queued = clock.Now()
	if !w.hold(nil) {
		return
	}
	clock.AfterFunc(pause, func() {
		if w.withdraw() {
			b.start(nil, c, &w.message, nil, w)
		}
	})
	if c.giveUp.Load() != nil {
		c.withdraw()
	}
}

// hedge is a second request for the same call, in case the first one is slow. It is a
// call of its own towards the server; its answer becomes that of the first.
type hedge struct {
	timer engine.Timer
	twin  *call
}

// hedge sends a call's second request when it has waited for long. l is the way that
// the first one went.
func (c *call) hedge(l *life) {
	b := l.b
	// Without a second request what is kept may be gone by now, with the call.
	if after := b.target.o.HedgeAfter; after > 0 && c.kept != nil && c.token.IsNone() {
		h := &hedge{twin: &call{session: c.session, key: c.key, id: c.id, method: c.method, begun: c.begun, limits: c.limits, primary: c, kept: c.kept}}
		h.twin.backend.Store(b)
		h.timer = b.target.g.clock.AfterFunc(after, func() { b.double(l, h.twin) })
		if old := c.hedged.Swap(h); old != nil {
			old.stop(b)
		}
		if c.over.Load() {
			h.stop(b)
		}
	}
	c.sending.Store(false)
}

// stop withdraws the second request: it was not needed.
func (h *hedge) stop(b *backend) {
	h.timer.Stop()
	h.twin.over.Store(true)
	if number := h.twin.number.Load(); number != 0 {
		b.engine.Cancel(codec.IntID(number), errHedged)
	}
}

// double sends a call's second request.
func (b *backend) double(l *life, twin *call) {
	if twin.over.Load() || twin.primary.over.Load() || b.live.Load() != l || b.full.Load() {
		return
	}
	m, err := codec.Parse(twin.kept.frame, codec.ScanOptions{})
	if err != nil {
		return
	}
	twin.sent = b.target.g.clock.Now()
	twin.spent = twin.sent - twin.primary.begun
	if b.session == nil && !l.streams && !b.target.o.Plain {
		b.claim(twin)
	}
	id, number := b.register(nil, twin)
	if id.IsAbsent() {
		return
	}
	if twin.over.Load() {
		b.engine.Cancel(id, errHedged)
		return
	}
	b.target.g.counts.hedged.Add(1)
	out := outgoings.Get().(*outgoing)
	defer out.put()
	out.rewrite.Request(&m, number)
	if err := l.up.Send(&link.Frame{Bytes: m.Frame(), Edits: out.rewrite.Edits, Call: number, Class: link.Ask}, nil); err != nil {
		b.engine.Reject(id, err)
	}
}

// settledTwin ends the second request. Its answer, if it came first, ends the call.
func (c *call) settledTwin(b *backend, number int64, o *engine.Outcome[*arrival]) {
	c.over.Store(true)
	if c.claimed {
		b.unclaim(c, o.Status)
	}
	if o.Status == engine.Resolved {
		first := c.primary.number.Load()
		b.engine.Resolve(codec.IntID(first), o.Value)
		return
	}
	ended, _ := o.Err.(*engine.CallError) //nolint:errorlint // as the engine gives it
	if ended != nil && ended.Sent {
		switch o.Status {
		case engine.Expired, engine.Cancelled:
			b.cancel(number, link.Cancel{Expired: o.Status == engine.Expired})
		}
	}
}
