package gateway

import (
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
)

// ReceiveFor implements link.Owner: the stream on which a message came proves whose
// it is, on a way that many clients share as well.
func (l *life) ReceiveFor(number int64, burst *link.Burst, m *codec.Message) error {
	l.b.heard.Store(int64(l.b.target.g.clock.Now()))
	switch m.Kind {
	case codec.KindResult, codec.KindError:
		l.answeredFor(number, burst, m)
	case codec.KindRequest:
		l.asked(burst, m, l.b.owners.find(number))
	case codec.KindNotification:
		l.notifiedFor(number, burst, m)
	}
	return nil
}

// answeredFor takes an answer that came on the stream of a call. One to another call
// is nobody's: the stream is no proof for that one, and its id none for this one.
func (l *life) answeredFor(number int64, burst *link.Burst, m *codec.Message) {
	if own, ok := m.ID().Int(); ok && own == number {
		l.answered(burst, m)
		return
	}
	if m.Kind == codec.KindError && m.IDKind <= codec.IDNull {
		named := codec.AppendError(nil, codec.IntID(number).Append(nil), m.Err()) // the server could not read an id
		if again, err := codec.Parse(named, codec.ScanOptions{}); err == nil {
			l.answered(burst, &again)
			return
		}
	}
	l.b.target.g.dropped(UnknownAnswer, nil, l.b)
}

// notifiedFor takes a notification that came on the stream of a call. What names no
// call by itself, a log line for one, is for that call's client.
func (l *life) notifiedFor(number int64, burst *link.Burst, m *codec.Message) {
	method := string(m.Method())
	if method == mcp.NoteProgress || method == mcp.NoteCancelled || m.Envelope.Subscription.Present() || isChange(method) {
		l.notified(burst, m)
		return
	}
	c := l.b.owners.find(number)
	if c == nil {
		l.b.target.g.dropped(UnownedNote, nil, l.b)
		return
	}
	l.logged(burst, m, c.session, c)
}

// Fail implements link.Owner.
func (l *life) Fail(number int64, err error) { l.b.engine.Reject(codec.IntID(number), err) }
