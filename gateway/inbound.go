package gateway

import (
	"errors"
	"strings"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
)

// Receive implements link.Receiver: it takes what a server says.
func (l *life) Receive(burst *link.Burst, m *codec.Message) error {
	l.b.heard.Store(int64(l.b.target.g.clock.Now()))
	switch m.Kind {
	case codec.KindResult, codec.KindError:
		l.answered(burst, m)
	case codec.KindRequest:
		l.asked(burst, m, nil)
	case codec.KindNotification:
		l.notified(burst, m)
	}
	return nil
}

// Dispatch implements link.Owner.
func (l *life) Dispatch(call int64) bool { return l.b.engine.Dispatch(codec.IntID(call)) }

// answered takes an answer to the call that it ends. Numbers are never used again on
// an engine, so what comes late, twice or with another's type ends nothing.
func (l *life) answered(burst *link.Burst, m *codec.Message) {
	if m.IDKind <= codec.IDNull {
		l.b.unmatched.Add(1)
		l.b.target.g.dropped(UnknownAnswer, nil, l.b)
		return
	}
	a := arrive(burst, m)
	taken := l.b.engine.Resolve(m.ID(), a)
	a.release(taken)
	if !taken {
		why := UnknownAnswer
		if l.b.engine.Known(m.ID()) {
			why = LateAnswer
		}
		l.b.unmatched.Add(1)
		l.b.target.g.dropped(why, nil, l.b)
	}
}

// Refused implements link.Receiver. An answer that can be named fails its call, which
// nobody else will ever answer.
func (l *life) Refused(burst *link.Burst, m *codec.Message, err error) {
	if errors.Is(err, codec.ErrBatch) && l.batched(burst, m.Frame()) {
		return
	}
	if l.b.target.o.Plain && l.askedPlain(burst, m.Frame()) {
		return
	}
	l.b.target.g.dropped(UnreadableServer, nil, l.b)
	id, _ := unreadable(m, err)
	if id.Kind() >= codec.IDInt {
		l.b.engine.Reject(id, &Failure{
			Code: codec.CodeInternal, Text: "upstream \"" + l.b.target.o.Name + "\" gave an answer that could not be read: " + err.Error(), Upstream: l.b.target.o.Name, Cause: Unreadable,
		})
	}
}

// notified takes a notification to whom it concerns.
func (l *life) notified(burst *link.Burst, m *codec.Message) {
	b := l.b
	switch method := string(m.Method()); {
	case method == mcp.NoteProgress:
		l.progressed(burst, m)
	case method == mcp.NoteCancelled:
		l.withdrawn(burst, m)
	case b.target.o.Plain:
		b.fanOut(burst, m)
	case m.Envelope.Subscription.Present():
		l.published(burst, m)
	case isChange(method):
		if method == mcp.NoteResourcesChanged && b.target.g.plan.Load().merge {
			b.target.g.forgetViews()
		}
		b.fanOut(burst, m)
		b.hub.changed(burst, method, m)
	case method == mcp.NoteResourceUpdated && (b.session == nil || b.session.isModern()):
		b.hub.updated(burst, m)
	case b.session == nil && strings.HasPrefix(method, noteTasksPrefix):
		l.taskChanged(burst, m)
	default:
		s := b.soleClient(l)
		if s == nil {
			b.target.g.dropped(UnownedNote, nil, b)
			return
		}
		if method == mcp.NoteResourceUpdated {
			m = b.target.shown(method, m)
		}
		l.logged(burst, m, s, nil)
	}
}

// progressed takes progress to the client that asked for it, under its own token.
func (l *life) progressed(burst *link.Burst, m *codec.Message) {
	token, err := codec.ParseID(m.Progress(), codec.JSONRPC)
	number, ok := token.Int()
	if err != nil || !ok || !l.b.engine.Touch(token) {
		l.b.target.g.dropped(LateProgress, nil, l.b)
		return
	}
	c := l.b.owners.find(number)
	if c != nil {
		c = c.current()
	}
	if c == nil || c.token.IsNone() {
		return // it asked for none: the gateway did, for the deadline's sake
	}
	out := outgoings.Get().(*outgoing)
	defer out.put()
	out.rewrite.Progress(m, c.token)
	out.frame = link.Frame{Bytes: m.Frame(), Edits: out.rewrite.Edits, About: c.id.ID(), Class: link.Progress}
	c.session.send(burst, &out.frame)
}

// published takes a notification of a subscription to who subscribed.
func (l *life) published(burst *link.Burst, m *codec.Message) {
	id, err := codec.ParseID(m.Subscription(), codec.JSONRPC)
	number, ok := id.Int()
	var c *call
	if err == nil && ok && l.b.engine.Touch(id) {
		c = l.b.owners.find(number)
	}
	if c == nil {
		if !l.b.hub.published(burst, number, m) {
			l.b.target.g.dropped(UnownedNote, nil, l.b)
		}
		return
	}
	out := outgoings.Get().(*outgoing)
	defer out.put()
	out.rewrite.Subscribed(m, c.id)
	out.frame = link.Frame{Bytes: m.Frame(), Edits: out.rewrite.Edits, About: c.id.ID(), Class: link.Note}
	c.session.send(burst, &out.frame)
}

// unreadable tells of a frame that is no message which id it has, as far as that can
// be seen, and what to answer.
func unreadable(m *codec.Message, err error) (codec.ID, *codec.Error) {
	if cut, ok := errors.AsType[*codec.FrameError](err); ok {
		id, _ := codec.PeekID(cut.Prefix, codec.MCP)
		return id, &codec.Error{Code: codec.CodeInvalidRequest, Message: "invalid request: frame too large"}
	}
	id, _ := codec.ParseID(m.RawID(), codec.JSONRPC)
	syntax, ok := errors.AsType[*codec.SyntaxError](err)
	if !ok {
		return id, &codec.Error{Code: codec.CodeInvalidRequest, Message: "invalid request: batches are not supported"}
	}
	text := "parse error"
	if syntax.Code == codec.CodeInvalidRequest {
		text = "invalid request"
	}
	return id, &codec.Error{Code: int64(syntax.Code), Message: text + ": " + syntax.Problem}
}
