package gateway

import (
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/route"
	"github.com/correlator-go/correlator/mcp"
)

// ask is a request of a server on its way to a client: the other direction, with ids
// of its own.
type ask struct {
	life    *life
	id      route.Echo // the server's
	session *Session
	number  int64 // the client's
}

// asked is what servers have asked one client.
type asked struct {
	last int64
	open map[int64]*ask
}

// asked takes a request of the server. about is the call that it concerns, where its
// stream says so, else nil.
func (l *life) asked(burst *link.Burst, m *codec.Message, about *call) {
	b := l.b
	if !b.target.o.Plain && string(m.Method()) == mcp.MethodPing {
		l.reply(burst, codec.AppendResult(nil, m.RawID(), []byte("{}")))
		return
	}
	s := b.soleClient()
	if about != nil {
		s = about.session
	}
	if s == nil {
		b.target.g.dropped(UnownedAsk, nil, b)
		l.reply(burst, codec.AppendError(nil, m.RawID(), &codec.Error{
			Code: codec.CodeMethodNotFound, Message: "many clients share this server: whom it asks cannot be told",
		}))
		return
	}
	a := &ask{life: l, id: route.EchoOf(m), session: s}
	if !b.enterAsk(a) {
		b.target.g.dropped(DuplicateRequest, nil, b)
		return
	}
	out := outgoings.Get().(*outgoing)
	defer out.put()
	out.rewrite.Reverse(m, a.number)
	out.frame = link.Frame{Bytes: m.Frame(), Edits: out.rewrite.Edits, Class: link.Ask}
	if about != nil {
		out.frame.About = about.key.ID
	}
	s.send(burst, &out.frame)
}

// soleClient is the one client that what the server says can be for, nil if that
// cannot be proved.
func (b *backend) soleClient() *Session { return b.session }

func (l *life) reply(burst *link.Burst, frame []byte) {
	_ = l.up.Send(&link.Frame{Bytes: frame}, burst) // a server that does not read learns nothing
}

// enterAsk notes a request of the server; false says that its id is in flight, or
// that the client has gone.
func (b *backend) enterAsk(a *ask) bool {
	b.mu.Lock()
	if b.asks == nil {
		b.asks = make(map[codec.ID]*ask)
	}
	_, twice := b.asks[a.id.ID()]
	if !twice {
		b.asks[a.id.ID()] = a
	}
	b.mu.Unlock()
	if twice {
		return false
	}
	s := a.session
	s.mu.Lock()
	if s.asked.open == nil {
		s.asked.open = make(map[int64]*ask)
	}
	s.asked.last++
	a.number = s.asked.last
	s.asked.open[a.number] = a
	s.mu.Unlock()
	return true
}

// leave forgets a request of the server; false says that it was answered before.
func (a *ask) leave() bool {
	b := a.life.b
	b.mu.Lock()
	open := b.asks[a.id.ID()] == a
	if open {
		delete(b.asks, a.id.ID())
	}
	b.mu.Unlock()
	s := a.session
	s.mu.Lock()
	delete(s.asked.open, a.number)
	s.mu.Unlock()
	return open
}

// answered takes a client's answer to the server that asked.
func (s *Session) answered(burst *link.Burst, m *codec.Message) {
	number, ok := m.ID().Int()
	s.mu.Lock()
	a := s.asked.open[number]
	s.mu.Unlock()
	if !ok || a == nil || !a.leave() {
		s.g.dropped(UnknownAnswer, s, nil)
		return
	}
	out := outgoings.Get().(*outgoing)
	defer out.put()
	if route.IsOdd(m) {
		out.frame.Bytes = route.AppendPlain(nil, m, a.id)
	} else {
		out.rewrite.ReverseAnswer(m, a.id)
		out.frame.Bytes, out.frame.Edits = m.Frame(), out.rewrite.Edits
	}
	_ = a.life.up.Send(&out.frame, burst) // who does not read learns nothing
}

// withdrawn takes a server's cancel of what it asked to the client.
func (l *life) withdrawn(burst *link.Burst, m *codec.Message) {
	b := l.b
	id, err := codec.ParseID(m.RequestID(), codec.JSONRPC)
	b.mu.Lock()
	a := b.asks[id]
	b.mu.Unlock()
	if err != nil || a == nil || !a.leave() {
		b.target.g.dropped(UnknownCancel, nil, b)
		return
	}
	out := outgoings.Get().(*outgoing)
	defer out.put()
	out.rewrite.CancelledFor(m, a.number)
	out.frame = link.Frame{Bytes: m.Frame(), Edits: out.rewrite.Edits, Class: link.Ask}
	a.session.send(burst, &out.frame)
}

// dropAsks forgets what a way that has gone had asked.
func (b *backend) dropAsks(l *life) {
	b.mu.Lock()
	var gone []*ask
	for _, a := range b.asks {
		if a.life == l {
			gone = append(gone, a)
		}
	}
	b.mu.Unlock()
	for _, a := range gone {
		a.leave()
	}
}
