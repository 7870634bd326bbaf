package gateway

import (
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
)

// isChange reports whether a notification is for every client.
func isChange(method string) bool {
	return method == mcp.NoteToolsChanged || method == mcp.NotePromptsChanged || method == mcp.NoteResourcesChanged
}

// fanOut gives a notification to every client of the way but those of the modern era,
// which hear of what they listen to.
func (b *backend) fanOut(burst *link.Burst, m *codec.Message) {
	for _, s := range b.target.g.using(b) {
		if !s.isModern() {
			s.send(burst, &link.Frame{Bytes: m.Frame(), Class: link.Note})
		}
	}
}

// isModern reports whether the client is of the modern era alone.
func (s *Session) isModern() bool { return s.modern.Load() && !s.older.Load() }

// using gives the sessions whose way is b.
func (g *Gateway) using(b *backend) []*Session {
	if b.session != nil {
		return []*Session{b.session}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []*Session
	for _, s := range g.sessions {
		if k, _ := b.target.key(s); k == b.key && !s.peer.Alone {
			out = append(out, s)
		}
	}
	return out
}

// pass gives a notification to the servers that can only take it for this client's
// own. What one client says of itself is no news for a server that many share.
func (s *Session) pass(b *link.Burst, m *codec.Message) {
	passed := false
	for _, t := range s.g.plan.Load().targets {
		if to := t.own(s); to != nil {
			to.note(b, m)
			passed = true
		}
	}
	if !passed {
		s.g.dropped(ClientOnlyNote, s, nil)
	}
}

// own is the way that s has for itself, nil if it shares one or has used none. To a
// server that knows no MCP a notification is like any other message.
func (t *target) own(s *Session) *backend {
	if t.o.Plain {
		if t == t.g.plan.Load().first {
			return t.backend(s)
		}
		return nil
	}
	k, own := t.key(s)
	if own == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.backends[k]
}
