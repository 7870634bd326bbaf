package gosdk

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

const noteCancelled = "notifications/cancelled"

// message is m for go-sdk, which owns it; nil for an answer to nothing.
func (l *link) message(m *codec.Message) (jsonrpc.Message, error) {
	switch m.Kind {
	case codec.KindNotification:
		r := &jsonrpc.Request{Method: string(m.Method())}
		if r.Method == noteCancelled {
			r.Params = l.cancelled(m)
		} else {
			r.Params = bytes.Clone(m.Params())
		}
		return r, nil
	case codec.KindRequest:
		id, err := l.idOf(m.ID())
		return &jsonrpc.Request{ID: id, Method: string(m.Method()), Params: bytes.Clone(m.Params())}, err
	}
	if m.IDKind <= codec.IDNull {
		l.noID.Add(1)
		l.stray(conn.StrayNoID, m.Frame(), len(m.Frame()), nil)
		return nil, nil
	}
	id, err := l.idOf(m.ID())
	r := &jsonrpc.Response{ID: id}
	if e := m.Err(); e != nil {
		r.Error = &jsonrpc.Error{Code: e.Code, Message: e.Message, Data: e.Data}
	} else {
		r.Result = bytes.Clone(m.Result())
	}
	return r, err
}

// cancelled is the params of a cancel, with the request named as go-sdk knows it.
func (l *link) cancelled(m *codec.Message) []byte {
	id, err := codec.ParseID(m.RequestID(), codec.MCP)
	if err != nil || id.Kind() < codec.IDInt {
		return bytes.Clone(m.Params())
	}
	text, ok := alias(id)
	if !ok {
		return bytes.Clone(m.Params())
	}
	at := m.Envelope.RequestID
	at.Off -= m.Envelope.Params.Off
	at.End -= m.Envelope.Params.Off
	return codec.AppendSplice(nil, m.Params(), codec.Edit{Span: at, Text: codec.AppendString(nil, text)})
}

// appendMessage appends msg as one frame.
func (l *link) appendMessage(dst []byte, msg jsonrpc.Message) ([]byte, error) {
	start := len(dst)
	switch m := msg.(type) {
	case *jsonrpc.Request:
		switch v := m.ID.Raw().(type) {
		case int64:
			dst = codec.AppendRequest(dst, codec.IntID(v), m.Method, m.Params)
		case string:
			dst = codec.AppendRequest(dst, codec.StringID(v), m.Method, m.Params)
		default:
			dst = codec.AppendNotification(dst, m.Method, m.Params)
		}
	case *jsonrpc.Response:
		var room [32]byte
		rawID := appendID(room[:0], m.ID)
		if len(rawID) == 0 {
			rawID = nil
		}
		if m.Error != nil {
			dst = codec.AppendError(dst, rawID, wireError(m.Error))
		} else {
			dst = codec.AppendResult(dst, rawID, m.Result)
		}
	default:
		return dst, fmt.Errorf("gosdk: cannot write a %T", msg)
	}
	if l.aliased.Load() {
		dst = restored(dst, start)
	}
	return codec.LineFramer{}.Seal(dst, start)
}

// restored puts the peer's id in the place of an alias that go-sdk has written as
// the subscription id of dst[start:].
func restored(dst []byte, start int) []byte {
	m, err := codec.Parse(dst[start:], codec.ScanOptions{MaxDepth: -1})
	if err != nil || m.Subscription() == nil {
		return dst
	}
	text, ok := unaliased(m.Subscription())
	if !ok {
		return dst
	}
	frame := bytes.Clone(dst[start:])
	return codec.AppendSplice(dst[:start], frame, codec.Edit{Span: m.Envelope.Subscription, Text: text})
}

// wireError is an error as go-sdk writes it: of one that wraps a *jsonrpc.Error the
// code, of any other the code 0.
func wireError(err error) *codec.Error {
	if e, ok := err.(*jsonrpc.Error); ok { //nolint:errorlint // a wrapped one has a text of its own
		return &codec.Error{Code: e.Code, Message: e.Message, Data: e.Data}
	}
	out := &codec.Error{Message: err.Error()}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		out.Code = e.Code
	}
	return out
}
