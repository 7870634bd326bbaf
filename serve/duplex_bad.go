package serve

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// strange takes what is no message: no JSON, no JSON-RPC, or an array. Whether it
// is answered depends on whether the answer would name its request.
func (d *duplex) strange(m *codec.Message, err error) {
	if _, syntax := errors.AsType[*codec.SyntaxError](err); !syntax && errors.Is(err, codec.ErrBatch) {
		d.array(m, err)
		return
	}
	d.server.counts.unreadable.Add(1)
	d.dropped(Stray{Reason: StrayUnreadable, Frame: m.Frame(), Err: err})
	var ids []codec.ID // which must not be in flight
	if m.IDKind > codec.IDNull {
		ids = []codec.ID{m.ID()}
	}
	d.take(m, nil, ids)
}

// tooLong refuses a line that is above MaxFrame, of which the two ends are known.
func (d *duplex) tooLong(prefix, tail []byte) {
	id, ok := requestID(prefix)
	if !ok {
		id, ok = tailID(tail)
	}
	d.limited(&LimitError{Err: ErrFrameTooLarge, Limit: d.server.o.MaxFrame})
	d.dropped(Stray{Reason: StrayTooLarge, Frame: prefix, Err: ErrFrameTooLarge})
	text := fmt.Sprintf("frame above %d bytes", d.server.o.MaxFrame)
	d.answerOr(id, ok, text)
}

// tooDeep refuses a frame that is nested above MaxDepth.
func (d *duplex) tooDeep(m *codec.Message) {
	id, ok := m.ID(), m.IDKind > codec.IDNull
	if !ok {
		id, ok = tailID(m.Frame())
	}
	d.limited(&LimitError{Err: ErrFrameTooDeep, Limit: d.server.o.MaxDepth})
	d.dropped(Stray{Reason: StrayTooDeep, Frame: m.Frame(), Err: ErrFrameTooDeep})
	d.answerOr(id, ok, fmt.Sprintf("frame nested above %d", d.server.o.MaxDepth))
}

// limited tells the observer of a frame that a limit refused.
func (d *duplex) limited(e *LimitError) {
	d.Connection.mu.Lock()
	d.rejected(mcp.NewExchangeID(), e)
	d.Connection.unlock()
}

// answerOr refuses the request of this id, or does what is done where there is
// none.
func (d *duplex) answerOr(id codec.ID, known bool, text string) {
	switch {
	case known:
		d.refuse(id, codec.CodeInvalidRequest, text)
	case d.server.o.AnswerUnreadable:
		_ = d.box.add(codec.AppendError(nil, nil, &codec.Error{Code: codec.CodeInvalidRequest, Message: text}), nil)
	}
}

// trailing notes that the stream ended inside a frame.
func (d *duplex) trailing() {
	d.Connection.mu.Lock()
	if d.observed() {
		d.event(Event{Kind: FrameRejected, Exchange: mcp.NewExchangeID(), Problem: ProblemTrailingBytes})
	}
	d.Connection.unlock()
	d.dropped(Stray{Reason: StrayTrailing})
}

// dropped shows what could not be used.
func (d *duplex) dropped(x Stray) {
	d.server.log(slog.LevelDebug, "frame dropped", slog.String("reason", x.Reason.String()), slog.Int("bytes", len(x.Frame)))
	d.server.stray(x)
}

// requestID reads the id of a request of which only the beginning is at hand.
func requestID(prefix []byte) (codec.ID, bool) {
	m, _ := codec.Parse(prefix, codec.ScanOptions{})
	if m.Envelope.Result.Present() || m.RawError() != nil {
		return codec.ID{}, false
	}
	return m.ID(), m.IDKind > codec.IDNull
}

func prefixOf(err error) []byte {
	if e, ok := errors.AsType[*codec.FrameError](err); ok {
		return e.Prefix
	}
	return nil
}
