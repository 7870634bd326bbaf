package gateway

import (
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/route"
)

// Tracer gives calls a place in traces. It is asked on the client's reader, so it must
// not block. Without one the trace context in _meta passes as clients wrote it.
type Tracer interface {
	// Begin is told of a request that came in: the method, the tool or prompt if there is
	// one, who sent it, and the traceparent and tracestate that its _meta has, "" for
	// none. The server gets traceparent in the place of the client's, one of plain
	// JSON-RPC only where its client has one; "" leaves what there is. span comes back as Event.Span when the call has ended.
	Begin(b Beginning) (traceparent string, span any)
}

// Beginning is what a Tracer is told of a request.
type Beginning struct {
	// Method is the request's, Tool the name of the tool or prompt that it is about; "" is
	// none.
	Method, Tool string
	// Client is the number of the session, as Session.Number has it, Peer who it is.
	Client uint64
	Peer   link.Peer
	// ID is the request's, as the client wrote it.
	ID codec.ID
	// Protocol is the revision of MCP that the request names itself, or else the one that its
	// client was answered in initialize; "" where there is neither, and of plain JSON-RPC. It
	// may be any text that a client likes.
	Protocol string
	// Traceparent and Tracestate are what _meta has of the W3C's headers of these names; ""
	// is none, or no string.
	Traceparent, Tracestate string
}

const (
	traceparent = "traceparent"
	tracestate  = "tracestate"
)

// trace asks the tracer, and gives the request with what it said. refusal is set when the
// context stands twice in it.
func (s *Session) trace(m *codec.Message, c *call, plain bool) (traced *codec.Message, span any, refusal *codec.Error) {
	defer s.g.recovered()
	b := Beginning{Method: c.method, Tool: c.tool, Client: s.number, Peer: s.peer, ID: c.id.ID()}
	if !plain {
		b.Protocol = s.protocol(m)
	}
	var err, again error
	b.Traceparent, err = route.Meta(m, traceparent)
	b.Tracestate, again = route.Meta(m, tracestate)
	if err != nil || again != nil {
		return m, nil, &codec.Error{Code: codec.CodeInvalidRequest, Message: "invalid request: traceparent or tracestate stands twice in _meta"}
	}
	traced = m // for what the tracer may panic with
	parent, span := s.g.o.Tracer.Begin(b)
	if parent == "" || plain && b.Traceparent == "" {
		return m, span, nil // one that knows no MCP may not want a member that its client did not write
	}
	frame, ok := route.AppendWithMeta(nil, m, traceparent, parent)
	if !ok {
		return m, span, nil
	}
	with, err := codec.Parse(frame, codec.ScanOptions{MaxDepth: maxTracedDepth})
	if err != nil {
		return m, span, nil
	}
	return &with, span, nil
}

// maxTracedDepth is beyond what any transport lets in.
const maxTracedDepth = 1 << 14
