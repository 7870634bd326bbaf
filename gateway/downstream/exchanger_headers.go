package downstream

import (
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/serve"
)

// agree reports whether the headers say what the body does. Arguments that a tool wants in
// headers are compared once a list of tools has said so to a client of this identity.
func (p *exchanger) agree(in *serve.Incoming) bool {
	if !in.Headers.Agree(in.Message) {
		return false
	}
	schema, arguments := p.endpoint.tools.Of(p.who.Identity, in.Message)
	return schema == nil || in.Headers.Repeat(schema, arguments)
}

// learn looks for tools that want arguments in headers.
func (p *exchanger) learn(frame []byte) {
	if m, err := codec.Parse(frame, codec.ScanOptions{}); err == nil && m.Kind == codec.KindResult {
		p.endpoint.tools.Learn(p.who.Identity, m.Result())
	}
}
