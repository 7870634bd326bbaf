package merge

import (
	"bytes"
	"strings"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/route"
)

// Separator stands between a prefix and a name.
const Separator = "__"

// Name is a name under a prefix.
type Name struct {
	// Upstream is the prefix, Rest the name as its server knows it.
	Upstream, Rest string
}

// String is the name as clients know it.
func (n Name) String() string { return n.Upstream + Separator + n.Rest }

// Cut takes a client's name apart. The prefix ends at the first Separator, so a name
// of a server may hold others; prefixes themselves must not. ok is false without one.
func Cut(name string) (n Name, ok bool) {
	n.Upstream, n.Rest, ok = strings.Cut(name, Separator)
	return n, ok && n.Upstream != "" && n.Rest != ""
}

// Strip is Cut for the JSON text of a name that stands at s in a frame, with the edit
// that leaves the rest: a name without escapes loses its prefix and no other byte.
func Strip(frame []byte, s codec.Span) (n Name, e codec.Edit, ok bool) {
	raw := s.Of(frame)
	text, ok := route.Text(raw)
	if !ok {
		return n, e, false
	}
	if n, ok = Cut(text); !ok {
		return n, e, false
	}
	if bytes.IndexByte(raw, '\\') >= 0 {
		return n, codec.Edit{Span: s, Text: codec.AppendString(nil, n.Rest)}, true
	}
	from := s.Off + 1
	return n, codec.Edit{Span: codec.Span{Off: from, End: from + uint32(len(n.Upstream)+len(Separator))}}, true
}
