package gateway

import (
	"fmt"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/merge"
	"github.com/correlator-go/correlator/gateway/route"
	"github.com/correlator-go/correlator/mcp"
)

// ResourceConflict says that two upstreams of a merged server have one resource, or one
// template of resources. It is Event.Err of ResourcesConflict.
type ResourceConflict struct {
	// URI is that of the resource, or the template's text.
	URI string
	// Serves is the upstream that clients reach under it, the first in Options.Upstreams;
	// Hidden is the one whose resource nobody reaches.
	Serves, Hidden string
}

// Error names both, and the way out.
func (e *ResourceConflict) Error() string {
	return fmt.Sprintf("upstreams %q and %q both have the resource %s: %q serves it, and the other one's cannot be reached without a URI prefix", e.Serves, e.Hidden, e.URI, e.Serves)
}

// conflicts are those that have been told, so that each is told once.
type conflicts struct {
	mu   sync.Mutex // guards told
	told map[ResourceConflict]struct{}
}

// conflictsMost is how many conflicts are told apart; more are counted no more.
const conflictsMost = 1 << 12

// conflict notes that two upstreams have one URI.
func (g *Gateway) conflict(uri string, serves, hidden *target) {
	e := ResourceConflict{uri, serves.o.Name, hidden.o.Name}
	g.conflicts.mu.Lock()
	_, again := g.conflicts.told[e]
	isNew := !again && len(g.conflicts.told) < conflictsMost
	if isNew {
		if g.conflicts.told == nil {
			g.conflicts.told = make(map[ResourceConflict]struct{})
		}
		g.conflicts.told[e] = struct{}{}
	}
	g.conflicts.mu.Unlock()
	if isNew {
		g.counts.conflicts.Add(1)
		g.observe(&Event{Kind: ResourcesConflict, Upstream: serves.o.Name, Err: &e})
	}
}

// ownURI is a request about a resource as t knows it, where clients know its resources
// under a prefix; at is where the URI stands.
func (t *target) ownURI(m *codec.Message, at codec.Span) *codec.Message {
	prefix := t.o.URIPrefix
	if prefix == "" {
		return m
	}
	e, ok := merge.StripURI(m.Frame(), at, prefix)
	if !ok {
		return m
	}
	return spliced(m, []codec.Edit{e})
}

// shown is what a server says, as clients know its resources.
func (t *target) shown(method string, m *codec.Message) *codec.Message {
	prefix := t.o.URIPrefix
	if prefix == "" || !t.g.plan.Load().merge {
		return m
	}
	var edits []codec.Edit
	base := uint32(0)
	switch m.Kind {
	case codec.KindResult:
		edits, base = merge.PrefixURIs(method, m.Result(), prefix), m.Envelope.Result.Off
	case codec.KindNotification:
		edits, base = merge.PrefixURI(m.Params(), prefix), m.Envelope.Params.Off
	case codec.KindError:
		if method != mcp.MethodReadResource && method != mcp.MethodSubscribe {
			return m
		}
		data, err := route.Member(m.RawError(), "data")
		if err != nil || !data.Present() {
			return m
		}
		edits, base = merge.PrefixURI(data.Of(m.RawError()), prefix), m.Envelope.Error.Off+data.Off
	}
	if len(edits) == 0 {
		return m
	}
	for i := range edits {
		edits[i].Span.Off += base
		edits[i].Span.End += base
	}
	return spliced(m, edits)
}

// spliced is m with edits made.
func spliced(m *codec.Message, edits []codec.Edit) *codec.Message {
	made, err := codec.Parse(codec.AppendSplice(nil, m.Frame(), edits...), codec.ScanOptions{MaxDepth: maxTracedDepth})
	if err != nil {
		return m // it cannot be: a string became another
	}
	return &made
}
