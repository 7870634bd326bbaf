package downstream

import (
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// disagree is what a request is refused with whose headers do not say what the body does;
// nil, if they do. Arguments that a tool wants in headers are compared once a list of tools
// has said so to a client of this identity.
func (p *exchanger) disagree(in *serve.Incoming) *codec.Error {
	if !in.Headers.Agree(in.Message) {
		return &codec.Error{Code: mcp.CodeHeaderMismatch, Message: "Header mismatch"}
	}
	schema, arguments, err := p.endpoint.tools.Of(p.who.Identity, in.Message)
	if err != nil {
		return &codec.Error{Code: codec.CodeInvalidRequest, Message: "invalid request: an argument that is repeated in a header stands twice"}
	}
	if schema != nil && !in.Headers.Repeat(schema, arguments) {
		return &codec.Error{Code: mcp.CodeHeaderMismatch, Message: "Header mismatch"}
	}
	return nil
}

// learn looks for tools that want arguments in headers.
func (p *exchanger) learn(frame []byte) {
	if m, err := codec.Parse(frame, codec.ScanOptions{}); err == nil && m.Kind == codec.KindResult {
		p.endpoint.tools.Learn(p.who.Identity, m.Result())
	}
}
