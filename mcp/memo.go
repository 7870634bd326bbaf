package mcp

import (
	"bytes"

	"github.com/correlator-go/correlator/codec"
)

// memo is the last _meta of a connection, taken apart. What a client says of itself
// is the same in every request but for the progress token, so that the next _meta
// is mostly known by comparing it. It changes no outcome, only how soon it is there.
type memo struct {
	text  []byte // the object; the token's place in it is token
	token codec.Span
	// Where the members stand in text.
	version, capabilities, info, logLevel codec.Span
	named                                 bool
}

// maxMemo is the longest _meta that is kept, in bytes.
const maxMemo = 1 << 10

// recall fills p from the memo when the _meta at params[start] is the same but for
// its token, which the scan found; end is the index behind it, 0 when it is not.
func (m *memo) recall(p *callParams, params []byte, start int, token codec.Span) (end int) {
	if len(m.text) == 0 || token.Present() != m.token.Present() {
		return 0
	}
	old := m.token.Len()
	end = start + len(m.text) - old + token.Len()
	if end > len(params) {
		return 0
	}
	at, behind := int(m.token.Off), int(m.token.End)
	if token.Present() && int(token.Off) != start+at || !bytes.Equal(params[start:start+at], m.text[:at]) ||
		!bytes.Equal(params[start+at+token.Len():end], m.text[behind:]) {
		return 0
	}
	shift := func(s codec.Span) codec.Span {
		if !s.Present() {
			return s
		}
		by := uint32(start)
		if s.Off >= m.token.End {
			by += uint32(token.Len() - old)
		}
		return codec.Span{Off: s.Off + by, End: s.End + by}
	}
	p.version, p.capabilities, p.info, p.logLevel = shift(m.version), shift(m.capabilities), shift(m.info), shift(m.logLevel)
	p.token, p.named = token, m.named
	return end
}

// keep remembers the _meta that was read into p, unless it holds what differs from
// request to request, or a member twice.
func (m *memo) keep(p *callParams, params []byte, start, end int) {
	m.text = m.text[:0]
	if p.twice || end-start > maxMemo || p.idempotency.Present() || p.correlation.Present() || p.traceParent.Present() || p.traceState.Present() {
		return
	}
	back := func(s codec.Span) codec.Span {
		if !s.Present() {
			return s
		}
		return codec.Span{Off: s.Off - uint32(start), End: s.End - uint32(start)}
	}
	m.text = append(m.text, params[start:end]...)
	m.token, m.named = back(p.token), p.named
	m.version, m.capabilities, m.info, m.logLevel = back(p.version), back(p.capabilities), back(p.info), back(p.logLevel)
}
