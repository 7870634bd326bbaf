package gateway

import (
	"slices"
	"sync"
	"sync/atomic"
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

// repeat is what a call needs that may go to its server twice.
type repeat struct {
	// frame is the request, with the router's edits and the client's own id.
	frame   []byte
	sending atomic.Bool   // somebody is in the middle of sending it
	tries   int           // how often it was sent again
	spent   time.Duration // of its total time, by earlier tries
	hedged  atomic.Pointer[hedge]
	primary *call // of a second request, the call
}

// repeats are those of calls that are over; where calls are hedged, a timer may still
// look at one, so that those are left to the collector.
var repeats = sync.Pool{New: func() any { return new(repeat) }}

// repeatKeep bounds the memory that is kept for the next one.
const repeatKeep = 64 << 10

// keep keeps the request, if it may be sent again.
func (b *backend) keep(c *call, m *codec.Message, edits []codec.Edit) {
	switch {
	case c.repeat != nil:
	case !b.target.mayRepeat(c.method):
		return
	default:
		r := repeats.Get().(*repeat)
		r.frame = codec.AppendSplice(r.frame[:0], m.Frame(), edits...)
		c.repeat = r
	}
	c.repeat.sending.Store(true)
}

// sentOnce ends what keep began.
func (c *call) sentOnce() {
	if c.repeat != nil {
		c.repeat.sending.Store(false)
	}
}

// forget lets go of the kept request, when the call is over.
func (c *call) forget() {
	r := c.repeat
	if r == nil || r.sending.Load() || cap(r.frame) > repeatKeep || c.backend.Load().target.o.HedgeAfter > 0 {
		return
	}
	c.repeat = nil
	r.tries, r.spent = 0, 0
	repeats.Put(r)
}

func (c *call) spent() time.Duration {
	if c.repeat == nil {
		return 0
	}
	return c.repeat.spent
}

// second is the call's second request, nil if there is none.
func (c *call) second() *hedge {
	if c.repeat == nil {
		return nil
	}
	return c.repeat.hedged.Load()
}

// total is the time that the call may still take, what it has had taken off.
func (c *call) total() time.Duration {
	if c.limits.total < 0 {
		return engine.NoTimeout
	}
	return max(1, c.limits.total-c.spent())
}

// again sends a call once more that got no answer since the server went, or its
// request was lost; false says that it may not. What may change something is never
// sent again, and neither is what somebody is in the middle of sending.
func (c *call) again(b *backend, number int64, o *engine.Outcome[*arrival]) bool {
	r := c.repeat
	if r == nil || r.tries >= b.target.o.Retries || r.sending.Load() || c.number.Load() != number || b.dead.Load() || c.giveUp.Load() != nil {
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
	m, err := codec.Parse(r.frame, codec.ScanOptions{})
	if err != nil {
		return false
	}
	r.spent += b.target.g.clock.Now() - c.sent
	if c.limits.total > 0 && r.spent >= c.limits.total {
		return false
	}
	c.release(b, number, o)
	r.tries++
	c.number.Store(0)
	b.target.g.counts.retried.Add(1)
	w := newWaiting(b, c, &m, nil)
	if o.Status == engine.Failed {
		c.queued = b.target.g.clock.Now()
		b.start(nil, c, &m, nil, w)
		return true
	}
	b.later(w, b.backoff(r.tries))
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
	if after := b.target.o.HedgeAfter; after > 0 && c.repeat != nil && c.token.IsNone() {
		h := &hedge{twin: &call{session: c.session, id: c.id, method: c.method, begun: c.begun, limits: c.limits, repeat: &repeat{frame: c.repeat.frame, primary: c}}}
		h.twin.backend.Store(b)
		h.timer = b.target.g.clock.AfterFunc(after, func() { b.double(l, h.twin) })
		if old := c.repeat.hedged.Swap(h); old != nil {
			old.stop(b)
		}
		if c.over.Load() {
			h.stop(b)
		}
	}
	c.sentOnce()
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
	if twin.over.Load() || twin.repeat.primary.over.Load() || b.live.Load() != l || b.full.Load() {
		return
	}
	m, err := codec.Parse(twin.repeat.frame, codec.ScanOptions{})
	if err != nil {
		return
	}
	twin.sent = b.target.g.clock.Now()
	twin.repeat.spent = twin.sent - twin.repeat.primary.begun
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
		first := c.repeat.primary.number.Load()
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
