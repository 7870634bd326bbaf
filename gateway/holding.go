package gateway

import (
	"crypto/rand"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/route"
	"github.com/correlator-go/correlator/mcp"
)

// holding is how a client of the modern era is asked by a server of the older one. What
// the server asks while it works on a call becomes the answer to the client's request
// (input_required), while the call at the server is held open. The client's next
// request brings what was asked and takes the place of the first:
//
//	client                          gateway                     server
//	tools/call ───────────────────▶ tools/call ───────────────▶
//	          ◀──── input_required  ◀────────────── elicitation/create
//	tools/call + inputResponses ──▶ answer ───────────────────▶
//	          ◀────────────────────────────────────────── result
//
// The first call, as it stands at the server, is c, with its deadlines: whoever of the
// client's requests is the front one gets what becomes of it. The name by which the
// next request finds it, requestState, cannot be guessed, is good once, and only for
// the client or the identity that was given it.
type holding struct {
	c     *call
	owner string

	mu sync.Mutex // guards the fields below
	// front is the client's request that waits; nil between two of them.
	front *call
	// asks are what the server wants to know: what was shown to the client under a key,
	// and what waits to be.
	asks  map[string]*heldAsk
	last  int
	state string
	timer engine.Timer
	// over says that the call has ended, with result or failed, if no front one got it.
	over   bool
	result []byte
	failed *codec.Error
}

// heldAsk is a request of a server.
type heldAsk struct {
	life   *life
	id     route.Echo
	method string
	params []byte
}

// holdings finds what is held by its requestState.
type holdings struct {
	mu  sync.Mutex // guards all
	all map[string]*holding
}

// holdingsMost is how many calls may be held for clients that have not come back.
const holdingsMost = 1 << 14

func (h *holdings) find(state string) *holding {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all[state]
}

func (h *holdings) rename(x *holding, old, state string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, old)
	switch {
	case state == "":
		return true
	case len(h.all) >= holdingsMost:
		return false
	case h.all == nil:
		h.all = make(map[string]*holding)
	}
	h.all[state] = x
	return true
}

// of gives what is held for a client.
func (h *holdings) of(owner string) []*holding {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []*holding
	for _, x := range h.all {
		if x.owner == owner {
			out = append(out, x)
		}
	}
	return out
}

// holder names who may come back for a held call: a session, or, where each exchange
// stands alone, an identity.
func (s *Session) holder() string {
	if s.peer.Alone {
		return "i" + s.peer.Identity
	}
	return sessionName(s.number)
}

// hold takes a request of a server for a client of the modern era. about is the call
// that it concerns, nil where that is not known: then it is the client's one call there.
func (l *life) hold(burst *link.Burst, m *codec.Message, s *Session, about *call) {
	method := string(m.Method())
	c := about
	if c == nil {
		c = s.soleCall(l.b)
	}
	switch {
	case c == nil || !hasRounds(c.method):
		l.b.target.g.dropped(UnownedAsk, nil, l.b)
		l.refuseAsk(burst, m, codec.CodeMethodNotFound, "it cannot be told which call this is about, or the call can ask for nothing")
		return
	case askable(method)&c.more().can == 0:
		l.refuseAsk(burst, m, codec.CodeMethodNotFound, "the client cannot be asked for it: "+method)
		return
	}
	a := &heldAsk{life: l, id: route.EchoOf(m), method: method, params: append([]byte(nil), m.Params()...)}
	x := c.held()
	if x == nil {
		x = &holding{c: c, owner: s.holder(), front: c, asks: make(map[string]*heldAsk)}
		if !c.more().holding.CompareAndSwap(nil, x) {
			x = c.held()
		}
	}
	x.add(burst, a)
}

// heldFor is the held call that the server can be at work for, where its client is one
// exchange after another; nil if that cannot be proved.
func (b *backend) heldFor(l *life) *call {
	if b.session != nil || l.streams {
		return nil
	}
	number := b.claims.sole(b.target.g.clock.Now())
	hs := &b.target.g.holdings
	hs.mu.Lock()
	defer hs.mu.Unlock()
	for _, x := range hs.all {
		if x.c.session.number == number && x.c.backend.Load() == b {
			return x.c
		}
	}
	return nil
}

// current is the request of the client that now stands for c; nil if none does.
func (c *call) current() *call {
	x := c.held()
	if x == nil {
		return c
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.front
}

// soleCall is the one call of the client that a server works on; nil if there are more.
func (s *Session) soleCall(b *backend) *call {
	var found *call
	more := false
	if s.modern.Load() {
		found, more = s.g.holdings.held(s, b)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := s.calls.first; c != nil && !more; c = c.next {
		if c.backend.Load() != b || c.number.Load() == 0 {
			continue
		}
		more = more || found != nil
		found = c
	}
	if more {
		return nil
	}
	return found
}

// held is a call of s at b that is held, and whether there are more.
func (h *holdings) held(s *Session, b *backend) (found *call, more bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range h.all {
		if x.c.session == s && x.c.backend.Load() == b && !x.c.over.Load() {
			found, more = x.c, found != nil
			if more {
				break
			}
		}
	}
	return found, more
}

// add notes what the server asks, and answers the front request with it.
func (x *holding) add(burst *link.Burst, a *heldAsk) {
	x.mu.Lock()
	x.last++
	x.asks[strconv.Itoa(x.last)] = a
	front := x.front
	if front == x.c {
		// From here on what becomes of the call goes to ended. If it is ending just now
		// its client gets its end, as if nothing had been asked.
		x.c.more().part.Store(&part{ended: x.ended})
		if x.c.over.Load() {
			x.c.more().part.Store(nil)
			x.mu.Unlock()
			x.refuseAll(codec.CodeInternal, "the call is over")
			return
		}
	}
	x.mu.Unlock()
	if front != nil {
		x.show(burst, front)
	}
}

// show answers the front request with what the server wants to know.
func (x *holding) show(burst *link.Burst, front *call) {
	g := x.c.session.g
	state := rand.Text()
	x.mu.Lock()
	if x.front != front || x.over {
		x.mu.Unlock()
		return
	}
	if !g.holdings.rename(x, x.state, state) {
		x.mu.Unlock()
		x.refuseAll(CodeBusy, "too many clients have not come back")
		return
	}
	x.state, x.front = state, nil
	result := append([]byte(`{"resultType":"`+mcp.ResultInputRequired+`","inputRequests":{`), x.requests()...)
	result = append(append(append(result, `},"requestState":"`...), state...), `"}`...)
	wait := x.c.backend.Load().target.o.Timeout
	if wait <= 0 {
		wait = DefaultTimeout
	}
	x.timer = g.clock.AfterFunc(wait, x.abandoned)
	x.mu.Unlock()
	if front == x.c {
		x.c.leaveFor(burst, result)
	} else {
		front.finish(burst, Answered, result, nil)
	}
}

// requests are the members of inputRequests. x.mu is held.
func (x *holding) requests() []byte {
	var out []byte
	for n := 1; n <= x.last; n++ {
		key := strconv.Itoa(n)
		a := x.asks[key]
		if a == nil {
			continue
		}
		if len(out) > 0 {
			out = append(out, ',')
		}
		out = append(out, `"`+key+`":{"method":"`+a.method+`"`...)
		if len(a.params) > 0 {
			out = append(append(out, `,"params":`...), a.params...)
		}
		out = append(out, '}')
	}
	return out
}

// leaveFor answers the client's request while the call at the server goes on.
func (c *call) leaveFor(burst *link.Burst, result []byte) {
	c.depart()
	c.count(Answered, nil)
	c.deliver(burst, &link.Frame{Bytes: c.appendAnswer(nil, result, nil), About: c.id.ID()})
	c.session.told()
}

// resumeHeld takes a request that says by requestState what it goes on with; false says
// that it says nothing of the kind.
func (b *backend) resumeHeld(burst *link.Burst, c *call, m *codec.Message) bool {
	spans, err := route.Members(m.Params(), "requestState", "inputResponses")
	if err != nil {
		c.end(burst, Refused, nil, unreadableParams(err))
		return true
	}
	state, ok := route.Text(spans[0].Of(m.Params()))
	if !ok {
		return false
	}
	x := c.session.g.holdings.find(state)
	if x == nil || x.owner != c.session.holder() || x.c.backend.Load() != b {
		c.end(burst, Refused, nil, invalidParams("requestState is not known, or not any more"))
		return true
	}
	answers := spans[1].Of(m.Params())
	if x.readsTwice(answers) {
		c.end(burst, Refused, nil, unreadableParams(codec.ErrDuplicateMember))
		return true
	}
	c.more().released = x.abandoned
	if !c.take() {
		return true
	}
	x.attach(burst, c, state, answers)
	return true
}

// readsTwice reports whether one of the answers that are wanted is there twice.
func (x *holding) readsTwice(answers []byte) bool {
	x.mu.Lock()
	names := slices.Collect(maps.Keys(x.asks))
	x.mu.Unlock()
	_, is := once(answers, names)
	return is
}

// attach makes c the front request, and gives the server its answers.
func (x *holding) attach(burst *link.Burst, c *call, state string, answers []byte) {
	x.mu.Lock()
	if x.state != state || x.front != nil {
		x.mu.Unlock()
		c.finish(burst, Refused, nil, invalidParams("requestState was used before"))
		return
	}
	x.front = c
	if x.timer != nil {
		x.timer.Stop()
	}
	over, result, failed := x.over, x.result, x.failed
	type given struct {
		ask    *heldAsk
		answer []byte
	}
	var all []given
	for key, a := range x.asks {
		if text := memberOf(answers, key); len(text) > 0 {
			all = append(all, given{a, text})
			delete(x.asks, key)
		}
	}
	missing := len(x.asks) > 0
	x.mu.Unlock()
	for _, g := range all {
		g.ask.life.reply(burst, codec.AppendResult(nil, g.ask.id.Append(nil), g.answer))
	}
	switch {
	case over:
		x.tell(c, result, failed)
	case missing:
		x.show(burst, c)
	}
	if c.over.Load() && !over {
		x.abandonedBy(c)
	}
}

// ended takes what became of the call at the server to the front request, or keeps it
// for the next.
func (x *holding) ended(result []byte, failed *codec.Error) {
	if failed == nil {
		result = append([]byte{}, result...)
	}
	result, failed = modernAnswer(x.c.method, result, failed)
	x.mu.Lock()
	x.over = true
	front := x.front
	if front == nil {
		x.result, x.failed = result, failed
	}
	x.mu.Unlock()
	switch front {
	case nil:
	case x.c:
		x.c.more().part.Store(nil)
		if failed != nil {
			x.c.end(nil, Failed, nil, failed)
		} else {
			x.c.end(nil, Answered, result, nil)
		}
	default:
		x.tell(front, result, failed)
	}
}

func (x *holding) tell(front *call, result []byte, failed *codec.Error) {
	x.c.session.g.holdings.rename(x, x.name(), "")
	if failed != nil {
		front.finish(nil, Failed, nil, failed)
		return
	}
	front.finish(nil, Answered, result, nil)
}

func (x *holding) name() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state
}

// abandoned ends the call at the server, since its client does not want it any more,
// has gone, or has not come back in time.
func (x *holding) abandoned() {
	x.c.session.g.holdings.rename(x, x.name(), "")
	x.mu.Lock()
	over := x.over
	if x.timer != nil {
		x.timer.Stop()
	}
	x.mu.Unlock()
	if !over {
		x.c.cancel(errClientCancelled, nil, nil)
		x.refuseAll(codec.CodeInternal, errAskGone.Error())
	}
}

// abandonedBy is abandoned for a front request that was cancelled while it came.
func (x *holding) abandonedBy(c *call) {
	x.mu.Lock()
	is := x.front == c
	x.mu.Unlock()
	if is {
		x.abandoned()
	}
}

// withdraw forgets what a server does not want to know any more; false says that it
// asked for no such thing.
func (h *holdings) withdraw(l *life, id codec.ID) bool {
	h.mu.Lock()
	all := make([]*holding, 0, len(h.all))
	for _, x := range h.all {
		if x.c.backend.Load() == l.b {
			all = append(all, x)
		}
	}
	h.mu.Unlock()
	for _, x := range all {
		x.mu.Lock()
		for key, a := range x.asks {
			if a.life == l && a.id.ID() == id {
				delete(x.asks, key)
				x.mu.Unlock()
				return true
			}
		}
		x.mu.Unlock()
	}
	return false
}

// refuseAll tells the server that nobody will answer what it asks.
func (x *holding) refuseAll(code int64, why string) {
	x.mu.Lock()
	asks := x.asks
	x.asks = make(map[string]*heldAsk)
	x.mu.Unlock()
	for _, a := range asks {
		a.life.reply(nil, codec.AppendError(nil, a.id.Append(nil), &codec.Error{Code: code, Message: why}))
	}
}
