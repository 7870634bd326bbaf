package gateway

import (
	"bytes"
	"errors"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/route"
	"github.com/correlator-go/correlator/mcp"
)

// Before a server that speaks JSON-RPC but not MCP the rules of JSON-RPC hold:
//
//	                        MCP                      plain JSON-RPC
//	id 1.5, 1.0, 1e3        refused                  served, echoed as it was written
//	id null with a method   refused                  served, answered with "id":null
//	no id can be read       dropped on a socket      refused with "id":null
//	$/cancelRequest         -                        cancels, as notifications/cancelled does
//	batches                 revision 2025-03-26      always
//
// Transports read by the rules of MCP, whose members of params have to be found to be
// rewritten. What those refuse for its id alone is read again here.

// isPlain reports whether the client is before a server that speaks JSON-RPC but not
// MCP.
func (g *Gateway) isPlain() bool { return g.plan.Load().first.o.Plain }

// plainDepth is beyond what any transport lets in.
const plainDepth = maxTracedDepth

// anonymous is a request with another id than its own, which the rules of MCP refuse, so
// that they find the rest of it.
func anonymous(frame []byte) (m codec.Message, id route.Echo, err error) {
	m, err = codec.Parse(frame, codec.ScanOptions{Profile: codec.JSONRPC, MaxDepth: plainDepth})
	if err != nil {
		return m, id, err
	}
	if m.Kind != codec.KindRequest {
		return m, id, nil
	}
	id = route.EchoOf(&m)
	named := codec.AppendSplice(nil, frame, codec.Edit{Span: m.Envelope.RawID, Text: []byte("0")})
	m, err = codec.Parse(named, codec.ScanOptions{MaxDepth: plainDepth})
	return m, id, err
}

// again takes a frame that the rules of MCP refused, or took for a notification since its
// id is null. failed is what the client is told; pending says that it will be answered.
func (s *Session) again(b *link.Burst, frame []byte, in *batch) (pending bool, failed *codec.Error) {
	m, id, err := anonymous(frame)
	switch {
	case err != nil:
		_, failed = unreadable(&m, err)
		return false, failed
	case m.Kind != codec.KindRequest:
		_ = s.Receive(b, &m) // an answer to what nobody asked, which is counted
		return false, nil
	}
	err = s.requestedAs(b, &m, id, in)
	if errors.Is(err, link.ErrDuplicate) && id.ID().Kind() == codec.IDNull {
		failed = &codec.Error{Code: codec.CodeInvalidRequest, Message: "invalid request: another one whose id is null is in flight"}
	}
	return err == nil, failed
}

// refusedPlain is Refused before a server of plain JSON-RPC: nobody waits for nothing.
func (s *Session) refusedPlain(b *link.Burst, m *codec.Message, err error) {
	id, failed := unreadable(m, err)
	if cut, ok := errors.AsType[*codec.FrameError](err); ok {
		id, _ = codec.PeekID(cut.Prefix, codec.JSONRPC)
	} else if _, failed = s.again(b, m.Frame(), nil); failed == nil {
		return
	}
	s.g.dropped(UnreadableClient, s, nil)
	if _, ok := s.find(id); ok && id.Kind() >= codec.IDInt {
		return // the error would end that one
	}
	s.answerError(b, id, plainID(id), failed)
}

// plainID is the id of an answer to what could not be read.
func plainID(id codec.ID) []byte {
	if id.Kind() < codec.IDInt {
		return []byte("null")
	}
	return id.Append(nil)
}

// cancelPlain is how requests are cancelled in the words of the Language Server
// Protocol, which are in use beyond it. Unlike in MCP a request that was cancelled so is
// answered.
const cancelPlain = "$/cancelRequest"

// codeCancelled is the answer to a request that was cancelled by cancelPlain.
const codeCancelled = -32800

var errPlainCancelled = errors.New("gateway: cancelled by the client, who waits for an answer")

// notifiedPlain takes a notification to a server of plain JSON-RPC. Only what names
// requests and progress is the gateway's to change.
func (s *Session) notifiedPlain(b *link.Burst, m *codec.Message, method string) {
	switch {
	case m.Flags.Has(codec.FlagNullID):
		s.refusedPlain(b, m, nil)
	case method == mcp.NoteCancelled:
		s.cancelled(b, m, m.Envelope.RequestID, errClientCancelled)
	case method == cancelPlain:
		at, err := route.Member(m.Params(), "id")
		if err != nil || !at.Present() {
			s.g.dropped(UnknownCancel, s, nil)
			return
		}
		base := m.Envelope.Params.Off
		s.cancelled(b, m, codec.Span{Off: base + at.Off, End: base + at.End}, errPlainCancelled)
	case method == mcp.NoteProgress && s.reported(b, m):
	default:
		s.pass(b, m)
	}
}

// askedPlain takes a request of a server whose id only JSON-RPC allows; false says that
// the frame is none.
func (l *life) askedPlain(burst *link.Burst, frame []byte) bool {
	m, err := codec.Parse(bytes.Clone(frame), codec.ScanOptions{Profile: codec.JSONRPC, MaxDepth: plainDepth})
	if err != nil || m.Kind != codec.KindRequest {
		return false
	}
	l.asked(burst, &m, nil)
	return true
}
