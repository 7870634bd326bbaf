package downstream

import (
	"encoding/json"
	"net/http"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// maxBatch is how many messages one batch may have.
const maxBatch = 1024

// receiveBatch takes a batch apart. One revision has them, over HTTP; servers of any
// see single requests.
func (p *exchanger) receiveBatch(in *serve.Incoming) error {
	var parts []json.RawMessage
	err := codec.DecodeValue(in.Message.Frame(), &parts)
	switch {
	case !p.Revision().HasBatches():
		p.refuse(in.Exchange, nil, &codec.Error{Code: codec.CodeInvalidRequest, Message: "invalid request: this revision has no batches"}, http.StatusBadRequest)
		return nil
	case err != nil:
		p.refuse(in.Exchange, nil, &codec.Error{Code: codec.CodeParse, Message: "parse error"}, http.StatusBadRequest)
		return nil
	case len(parts) == 0 || len(parts) > maxBatch:
		p.refuse(in.Exchange, nil, &codec.Error{Code: codec.CodeInvalidRequest, Message: "invalid request: a batch has from 1 to 1024 messages"}, http.StatusBadRequest)
		return nil
	}
	x := &exchange{id: in.Exchange, batch: true, left: 1} // 1 for this function
	s, err := p.enter(in, x)
	if err != nil {
		return err
	}
	var b link.Burst
	defer b.Flush()
	for _, part := range parts {
		m, err := codec.Parse(part, codec.ScanOptions{MaxDepth: p.endpoint.o.Limits.MaxDepth})
		switch {
		case err != nil, m.Kind == codec.KindRequest && !p.awaits(x, m.ID()):
			p.addTo(x, codec.AppendError(nil, idIn(&m), &codec.Error{Code: codec.CodeInvalidRequest, Message: "invalid request"}), 0)
			continue
		case m.Kind == codec.KindRequest:
			p.addTo(x, nil, 1)
		}
		if err = s.Receive(&b, &m); err != nil && m.Kind == codec.KindRequest {
			p.forget([]codec.ID{m.ID()})
			p.addTo(x, codec.AppendError(nil, m.RawID(), &codec.Error{Code: codec.CodeInvalidRequest, Message: "invalid request: " + err.Error()}), -1)
		}
	}
	p.addAnswer(x, nil, -1)
	return nil
}

// addAnswer is addTo, and ends the exchange if that was the last of it.
func (p *exchanger) addAnswer(x *exchange, answer []byte, left int) {
	all, over := p.addTo(x, answer, left)
	if all != nil {
		_ = p.out.Write(x.id, serve.Outgoing{Frame: all, Final: true})
	}
	if over {
		p.out.Close(x.id)
	}
}

// idIn is the id of a message that may be none, nil if that cannot be read.
func idIn(m *codec.Message) []byte {
	if m.IDKind <= codec.IDNull {
		return nil
	}
	return m.RawID()
}

// awaits reports whether an answer to id would go to x.
func (p *exchanger) awaits(x *exchange, id codec.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open[id] == x
}

// addTo adds to what is awaited, and perhaps an answer. When nothing is left to come
// it is over, and all is what there is to say, nil for nothing.
func (p *exchanger) addTo(x *exchange, answer []byte, left int) (all []byte, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if answer != nil {
		x.answers = append(x.answers, answer)
	}
	x.left += left
	return x.whole(), x.left == 0
}

// whole is the array of all answers, nil while there is one to come, or none at all.
func (x *exchange) whole() []byte {
	if x.left > 0 || len(x.answers) == 0 {
		return nil
	}
	out := []byte{'['}
	for i, a := range x.answers {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, a...)
	}
	return append(out, ']')
}

// revisionIn is what an answer to initialize agreed on, "" if it did not.
func revisionIn(frame []byte) mcp.Revision {
	m, err := codec.Parse(frame, codec.ScanOptions{})
	if err != nil || m.Kind != codec.KindResult {
		return ""
	}
	var result struct {
		Version mcp.Revision `json:"protocolVersion"`
	}
	if codec.DecodeValue(m.Result(), &result) != nil {
		return ""
	}
	return result.Version
}

// statusIn is the HTTP status of an answer of the modern era.
func statusIn(frame []byte) int {
	m, err := codec.Parse(frame, codec.ScanOptions{})
	if err != nil || m.Kind != codec.KindError {
		return http.StatusOK
	}
	return statusOf(m.Err().Code)
}

// statusOf is the status that MCP names for errors of the protocol. What a server came
// to is a success of the transport.
func statusOf(code int64) int {
	switch code {
	case codec.CodeMethodNotFound:
		return http.StatusNotFound
	case codec.CodeParse, codec.CodeInvalidRequest, mcp.CodeHeaderMismatch, mcp.CodeMissingCapability, mcp.CodeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
