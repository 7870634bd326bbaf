package gateway

import (
	"errors"

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
	token   route.Echo // of the progress that it asks for; none if it asks for none
	session *Session
	number  int64 // the client's
	// reply gets the client's answer where it is the gateway that asked; then there is
	// no life and no id.
	reply func(m *codec.Message)
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
	s := b.soleClient(l)
	if s == nil && about == nil {
		about = b.heldFor(l)
	}
	if about != nil {
		s = about.session
	}
	if s == nil {
		b.target.g.dropped(UnownedAsk, nil, b)
		l.refuseAsk(burst, m, codec.CodeMethodNotFound, b.whyNobody(l))
		return
	}
	if s.isModern() {
		l.hold(burst, m, s, about)
		return
	}
	if in := s.introduced.Load(); in != nil && b.session == nil {
		// The server knows what the gateway said of all its clients.
		if bit := askable(string(m.Method())); bit != 0 && capabilitiesOf(in.capabilities)&bit == 0 {
			l.refuseAsk(burst, m, codec.CodeMethodNotFound, "the client cannot be asked for it: "+string(m.Method()))
			return
		}
	}
	a := &ask{life: l, id: route.EchoOf(m), session: s}
	if m.Envelope.Token.Present() {
		token, err := route.EchoText(m.Token())
		if err != nil || token.ID().Kind() < codec.IDInt {
			l.refuseAsk(burst, m, codec.CodeInvalidRequest, "invalid request: progressToken must be a string or an integer")
			return
		}
		a.token = token
	}
	switch err := b.enterAsk(a); {
	case errors.Is(err, link.ErrDuplicate):
		b.target.g.dropped(DuplicateRequest, nil, b)
		return
	case err != nil:
		l.refuseAsk(burst, m, CodeBusy, err.Error())
		return
	}
	out := outgoings.Get().(*outgoing)
	defer out.put()
	out.rewrite.Reverse(m, a.number)
	out.frame = link.Frame{Bytes: m.Frame(), Edits: out.rewrite.Edits, Class: link.Ask}
	if about == nil {
		about = s.soleCall(b) // on whose stream it belongs, where calls have streams
	}
	if about != nil {
		out.frame.About = about.id.ID()
	}
	s.send(burst, &out.frame)
}

func (l *life) refuseAsk(burst *link.Burst, m *codec.Message, code int64, text string) {
	l.reply(burst, codec.AppendError(nil, m.RawID(), &codec.Error{Code: code, Message: text}))
}

func (l *life) reply(burst *link.Burst, frame []byte) {
	_ = l.up.Send(&link.Frame{Bytes: frame}, burst) // a server that does not read learns nothing
}

// asksMost is how many requests of servers one client may leave unanswered.
const asksMost = 1 << 10

var (
	errAskGone = errors.New("the client has gone")
	errAskFull = errors.New("the client answers nothing that it is asked")
)

// enterAsk notes a request of the server. The error is link.ErrDuplicate, or one for
// the server to read.
func (b *backend) enterAsk(a *ask) error {
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
		return link.ErrDuplicate
	}
	err := a.session.enterAsk(a)
	if err != nil {
		b.mu.Lock()
		delete(b.asks, a.id.ID())
		b.mu.Unlock()
	}
	return err
}

func (s *Session) enterAsk(a *ask) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.gone:
		return errAskGone
	case len(s.asked.open) >= asksMost:
		return errAskFull
	}
	if s.asked.open == nil {
		s.asked.open = make(map[int64]*ask)
	}
	s.asked.last++
	a.number = s.asked.last
	s.asked.open[a.number] = a
	return nil
}

// leave forgets a request of the server; false says that it was answered before.
func (a *ask) leave() bool {
	s := a.session
	if a.reply != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		open := s.asked.open[a.number] == a
		delete(s.asked.open, a.number)
		return open
	}
	b := a.life.b
	b.mu.Lock()
	open := b.asks[a.id.ID()] == a
	if open {
		delete(b.asks, a.id.ID())
	}
	b.mu.Unlock()
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
	if a.reply != nil {
		a.reply(m)
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

// reported takes a client's progress with what it was asked to the server that asked;
// false says that none did.
func (s *Session) reported(burst *link.Burst, m *codec.Message) bool {
	token, err := codec.ParseID(m.Progress(), codec.JSONRPC)
	number, ok := token.Int()
	s.mu.Lock()
	a := s.asked.open[number]
	s.mu.Unlock()
	if err != nil || !ok || a == nil || a.token.IsNone() {
		return false
	}
	out := outgoings.Get().(*outgoing)
	defer out.put()
	out.rewrite.Progress(m, a.token)
	out.frame = link.Frame{Bytes: m.Frame(), Edits: out.rewrite.Edits, Class: link.Progress}
	_ = a.life.up.Send(&out.frame, burst)
	return true
}

// unasked answers, when the client has gone, what it was asked.
func (s *Session) unasked() {
	s.mu.Lock()
	open := make([]*ask, 0, len(s.asked.open))
	for _, a := range s.asked.open {
		open = append(open, a)
	}
	s.mu.Unlock()
	for _, a := range open {
		if a.leave() && a.reply == nil {
			a.life.reply(nil, codec.AppendError(nil, a.id.Append(nil), &codec.Error{Code: codec.CodeInternal, Message: errAskGone.Error()}))
		}
	}
}

// withdrawn takes a server's cancel of what it asked to the client.
func (l *life) withdrawn(burst *link.Burst, m *codec.Message) {
	b := l.b
	id, err := codec.ParseID(m.RequestID(), codec.JSONRPC)
	b.mu.Lock()
	a := b.asks[id]
	b.mu.Unlock()
	if a == nil && b.endedListen(id) {
		return
	}
	if err == nil && a == nil && b.target.g.holdings.withdraw(l, id) {
		return // its client answers it, or not: nobody waits for that
	}
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
