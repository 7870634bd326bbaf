package mcp

import (
	"bytes"

	"github.com/correlator-go/correlator/codec"
)

// metaText is a _meta, taken apart. It never changes, so that the invocations of a
// connection may share one.
type metaText struct {
	metaSpans
	text []byte // the object; the spans stand in it
}

// metaSpans is where the members of a _meta stand in its text.
type metaSpans struct {
	token        codec.Span
	version      codec.Span
	capabilities codec.Span
	info         codec.Span
	logLevel     codec.Span
	idempotency  codec.Span
	correlation  codec.Span
	traceParent  codec.Span
	traceState   codec.Span
	named        bool // info has a name and a version
}

// What a client says of itself is the same in every request but for the progress
// token, so that the _meta of a request is mostly known by comparing it with the
// last one. That changes no outcome, only how soon it is there and how much of it
// is copied.

// recall reports whether the _meta that begins at params[start] is m but for its
// token, which the scan found, and gives the index behind it.
func (m *metaText) recall(params []byte, start int, token codec.Span) (end int, same bool) {
	if m == nil || token.Present() != m.token.Present() {
		return 0, false
	}
	at, behind := int(m.token.Off), int(m.token.End)
	end = start + len(m.text) - m.token.Len() + token.Len()
	if end > len(params) || token.Present() && int(token.Off) != start+at {
		return 0, false
	}
	same = bytes.Equal(params[start:start+at], m.text[:at]) && bytes.Equal(params[start+at+token.Len():end], m.text[behind:])
	return end, same
}

// with appends the text with another token.
func (m *metaText) with(dst, token []byte) []byte {
	dst = append(dst, m.text[:m.token.Off]...)
	dst = append(dst, token...)
	return append(dst, m.text[m.token.End:]...)
}

// Beyond these lengths, in bytes, a _meta is not remembered, or not in the copy of
// the request that it came in, which would be kept with it.
const (
	maxMemo  = 1 << 10
	maxOwner = 4 << 10
)

// memorize keeps the _meta of an invocation for the next one, unless it holds what
// differs from request to request.
func (s *State) memorize(m *metaText, owner int) {
	varies := m.idempotency.Present() || m.correlation.Present() || m.traceParent.Present() || m.traceState.Present()
	if varies || len(m.text) > maxMemo {
		return
	}
	if owner > maxOwner {
		m.text = bytes.Clone(m.text)
	}
	s.memo = m
}
