package gateway

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/limit"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/route"
	"github.com/correlator-go/correlator/mcp"
)

// Session is one client as the gateway sees it: what its transport reads goes in by
// the methods of link.Receiver. One of its own streams calls them one after the
// other; several streams may at once.
type Session struct {
	g          *Gateway
	client     link.Client
	peer       link.Peer
	number     uint64
	limited    limit.Client            // whom limits take it for
	way        atomic.Pointer[backend] // which it used last
	older      atomic.Bool             // it has begun the handshake of the older era
	introduced atomic.Pointer[introduction]
	modern     atomic.Bool  // it has sent a request of the modern one
	level      atomic.Int32 // of the log of servers of the older era: see level

	behind atomic.Pointer[behind] // nil before it ever was

	mu    sync.Mutex // guards the fields below
	calls callList   // in flight
	gone  bool
	idle  chan struct{} // closed when nothing is owed to the client, if somebody asked
	// telling is how many calls have left the list and not yet given their answer.
	telling int
	asked   asked // requests of servers that this client has not answered
}

var _ link.Receiver = (*Session)(nil)

// Number tells sessions apart for as long as the gateway lives.
func (s *Session) Number() uint64 { return s.number }

// Peer says who the client is.
func (s *Session) Peer() link.Peer { return s.peer }

// Idle gives a channel that is closed when no call of the session is in flight, nor has
// an answer that is not yet on its way: for a
// client that has said all it wants and still reads.
func (s *Session) Idle() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle == nil {
		s.idle = make(chan struct{})
		if s.calls.empty() && s.telling == 0 {
			close(s.idle)
		}
	}
	return s.idle
}

// told notes that the client has what one of its calls had to say.
func (s *Session) told() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.telling--; s.idle == nil || s.telling > 0 || !s.calls.empty() {
		return
	}
	select {
	case <-s.idle:
	default:
		close(s.idle)
	}
}

// Receive implements link.Receiver.
func (s *Session) Receive(b *link.Burst, m *codec.Message) error {
	switch m.Kind {
	case codec.KindRequest:
		return s.requested(b, m, nil)
	case codec.KindNotification:
		s.notified(b, m)
	case codec.KindResult, codec.KindError:
		s.answered(b, m)
	}
	return nil
}

// Refused implements link.Receiver. A request that can be named is refused by its
// name, unless one of that name is in flight, which the error would end.
func (s *Session) Refused(b *link.Burst, m *codec.Message, err error) {
	if errors.Is(err, codec.ErrBatch) && s.batched(b, m.Frame()) {
		return
	}
	if s.g.isPlain() {
		s.refusedPlain(b, m, err)
		return
	}
	id, refusal := unreadable(m, err)
	s.g.dropped(UnreadableClient, s, nil)
	if id.Kind() < codec.IDInt {
		return
	}
	if _, ok := s.find(id); ok {
		return
	}
	s.answerError(b, id, id.Append(nil), refusal)
}

// Gone implements link.Receiver.
func (s *Session) Gone(err error) {
	calls, first := s.end()
	if !first {
		return
	}
	for _, c := range calls {
		c.cancel(errClientGone, nil, nil)
	}
	s.unasked()
	if !s.peer.Alone {
		for _, x := range s.g.holdings.of(s.holder()) {
			x.abandoned()
		}
	}
	s.leave(err)
}

// end takes no calls any more, and gives those in flight.
func (s *Session) end() (calls []*call, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return nil, false
	}
	s.gone = true
	for c := s.calls.first; c != nil; c = c.next {
		calls = append(calls, c)
	}
	return calls, true
}

func (s *Session) isGone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

func (s *Session) leave(err error) {
	s.g.leave(s)
	s.g.observe(&Event{Kind: ClientLeft, Client: s.number, Peer: s.peer, Err: err})
}

// requested takes a request of the client.
func (s *Session) requested(b *link.Burst, m *codec.Message, in *batch) error {
	return s.requestedAs(b, m, route.EchoOf(m), in)
}

// requestedAs takes a request of the client that goes by id, whatever id m has.
func (s *Session) requestedAs(b *link.Burst, m *codec.Message, id route.Echo, in *batch) error {
	g := s.g
	p, d := g.plan.Load(), &undecided
	t := p.first
	if p.router != nil {
		d = s.route(p.router, m)
		if d.Upstream != "" {
			t = p.targets[d.Upstream]
		}
	}
	c := &call{session: s, id: id, method: g.methods.of(m.Method()), begun: g.clock.Now()}
	if g.o.Observer != nil {
		c.tool = g.toolOf(c.method, m)
	}
	if g.o.Tracer != nil {
		traced, span, refusal := s.trace(m, c, t != nil && t.o.Plain)
		if m = traced; span != nil {
			c.more().span = span
		}
		if refusal != nil {
			d = &Decision{Refusal: refusal}
		}
	}
	switch {
	case c.method == mcp.NoteCancelled || c.method == cancelPlain:
		// It would name a request as the server does, which is another client's.
		d = &Decision{Refusal: &codec.Error{Code: codec.CodeInvalidRequest, Message: "invalid request: a cancel is a notification, without an id"}}
	case t != nil && t.o.Plain:
	case readsTwice(c.method, m.Params()):
		d = &Decision{Refusal: unreadableParams(codec.ErrDuplicateMember)}
	default:
		s.hear(c, m)
	}
	if in != nil {
		c.more().batch = in
	}
	if m.Envelope.Token.Present() {
		token, err := route.EchoText(m.Token())
		if err != nil || token.ID().Kind() < codec.IDInt {
			g.counts.requests.Add(1)
			g.counts.ended(Refused)
			c.deliver(b, &link.Frame{About: c.id.ID(), Bytes: c.appendAnswer(nil, nil,
				&codec.Error{Code: codec.CodeInvalidRequest, Message: "invalid request: progressToken must be a string or an integer"})})
			return nil
		}
		c.token = token
	}
	if !g.table.Add(c.key(), c) {
		g.dropped(DuplicateRequest, s, nil)
		return link.ErrDuplicate
	}
	g.counts.requests.Add(1)
	if !s.enter(c) {
		c.leave()
		c.toldClient()
		g.counts.ended(Cancelled)
		return link.ErrGone
	}
	switch {
	case g.draining.Load():
		c.refuse(b, &Failure{Code: CodeStopping, Text: "the gateway is shutting down"})
	case d.Refusal != nil:
		c.end(b, Refused, nil, d.Refusal)
	case d.Answer != nil:
		c.end(b, Answered, d.Answer, nil)
	case d.Take != nil:
		if c.take() {
			s.hand(c, d.Take)
		}
	case t == nil:
		c.refuse(b, &Failure{Code: CodeUpstreamLost, Text: "no such upstream", Upstream: d.Upstream})
	case !t.o.Plain && c.method == mcp.MethodPing:
		c.end(b, Answered, []byte("{}"), nil)
	default:
		if f := s.tooFast(c.begun); f != nil {
			c.refuse(b, f)
			return nil
		}
		if p.merge && d == &undecided {
			s.merged(b, c, m)
			return nil
		}
		t.backend(s).admit(b, c, m, d.Edits)
	}
	return nil
}

// hand gives a call to who took it, who may panic.
func (s *Session) hand(c *call, take func(Reply)) {
	failed := true
	defer func() {
		if failed {
			c.finish(nil, Refused, nil, &codec.Error{Code: codec.CodeInternal, Message: "internal error"})
		}
	}()
	defer s.g.recovered()
	take(c.reply)
	failed = false
}

// undecided is the Decision where there is no router. Nobody changes it.
var undecided Decision

// route asks the router, who may panic.
func (s *Session) route(r Router, m *codec.Message) (d *Decision) {
	d = new(Decision)
	failed := true
	defer func() {
		if failed {
			*d = Decision{Refusal: &codec.Error{Code: codec.CodeInternal, Message: "internal error"}}
		}
	}()
	defer s.g.recovered()
	r.Route(s, m, d)
	failed = false
	return d
}

// hear notes of which era the client is, and the call.
func (s *Session) hear(c *call, m *codec.Message) {
	switch {
	case s.older.Load():
	case c.method == mcp.MethodInitialize:
		s.older.Store(true)
		s.introduce(m.Params())
	case s.peer.Alone || bytes.Contains(m.Params(), modernMark) && (s.modern.Load() || namesRevision(m.Params())):
		c.modern = true
		if !s.modern.Load() {
			s.modern.Store(true)
		}
	}
}

// modernMark stands in every request of the modern era, and in few others: then the
// first is looked at closely.
var modernMark = []byte(`protocolVersion"`)

// namesRevision reports whether a request is of the modern era.
func namesRevision(params []byte) bool {
	return len(memberOf(memberOf(params, "_meta"), mcp.MetaProtocolVersion)) > 0
}

// find gives the call of this client that is in flight under id.
func (s *Session) find(id codec.ID) (*call, bool) {
	return s.g.table.Find(route.Key{Client: s.number, ID: id})
}

// enter puts a call into the session's list; false says that the client has gone.
func (s *Session) enter(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return false
	}
	s.calls.add(c)
	return true
}

// notified takes a notification of the client.
func (s *Session) notified(b *link.Burst, m *codec.Message) {
	method := string(m.Method())
	if s.g.isPlain() {
		s.notifiedPlain(b, m, method)
		return
	}
	switch {
	case m.Flags.Has(codec.FlagNullID):
		s.g.dropped(UnreadableClient, s, nil)
		s.answerError(b, codec.ID{}, []byte("null"), &codec.Error{Code: codec.CodeInvalidRequest, Message: "invalid request: null id"})
	case method == mcp.NoteCancelled:
		s.cancelled(b, m, m.Envelope.RequestID, errClientCancelled)
	case method == mcp.NoteInitialized:
		// Each way to a server was told by the gateway when it was opened.
	case method == mcp.NoteProgress:
		if !s.reported(b, m) {
			s.g.dropped(LateProgress, s, nil)
		}
	default:
		s.pass(b, m)
	}
}

// cancelled takes a client's cancel to the call whose id stands at at.
func (s *Session) cancelled(b *link.Burst, m *codec.Message, at codec.Span, why error) {
	id, err := codec.ParseID(at.Of(m.Frame()), codec.JSONRPC)
	if err == nil && id.Kind() >= codec.IDInt {
		m.Envelope.RequestID = at
		if c, ok := s.find(id); ok && c.cancel(why, b, m) {
			return
		}
	}
	s.g.dropped(UnknownCancel, s, nil)
}

func (s *Session) answerError(b *link.Burst, id codec.ID, rawID []byte, e *codec.Error) {
	s.send(b, &link.Frame{Bytes: codec.AppendError(nil, rawID, e), About: id})
}

// send gives a frame to the client. One that does not keep up is let go of when it
// would lose an answer, or a request that somebody waits for.
func (s *Session) send(b *link.Burst, f *link.Frame) {
	coalesce := f.Class == link.Progress && s.g.plan.Load().overflow == Coalesce
	if coalesce && s.keeps(f) {
		return
	}
	err := s.client.Send(f, b)
	switch {
	case err == nil:
	case coalesce && errors.Is(err, link.ErrFull):
		s.keepLast(f)
	case s.g.plan.Load().overflow == CloseSlow && errors.Is(err, link.ErrFull):
		s.client.End(err)
	case f.Class == link.Answer || f.Class == link.Ask:
		s.client.End(err)
	default:
		s.g.dropped(ClientSlow, s, nil)
	}
}
