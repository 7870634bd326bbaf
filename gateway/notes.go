package gateway

import (
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
)

// notes are notifications of clients that wait for a server that speaks no MCP to be
// open. The backend's mu guards them; some says that there are any.
type notes struct {
	kept []codec.Message
	some atomic.Bool
}

// notesMost is how many notifications wait for one way.
const notesMost = 1 << 10

// note passes on a notification of a client. To a server of MCP that is not open there
// is nothing to tell: it hears from its client anew. Others get it, before calls that
// waited with it, when they are open.
func (b *backend) note(burst *link.Burst, m *codec.Message) {
	l := b.live.Load()
	if l == nil || b.notes.some.Load() {
		l = b.parkNote(m)
	}
	if l != nil {
		_ = l.up.Send(&link.Frame{Bytes: m.Frame(), Class: link.Note}, burst) // who does not read learns nothing
	}
}

// parkNote keeps m, or gives the way that it can go after all.
func (b *backend) parkNote(m *codec.Message) *life {
	b.mu.Lock()
	l := b.live.Load()
	dropped := false
	switch {
	case l != nil && len(b.notes.kept) == 0:
	case !b.target.o.Plain || b.ended || len(b.notes.kept) >= notesMost || !b.placeLocked():
		dropped, l = true, nil
	default:
		b.notes.kept = append(b.notes.kept, m.Detach())
		b.notes.some.Store(true)
		b.openLocked()
		l = nil
	}
	b.mu.Unlock()
	if dropped {
		b.target.g.dropped(ClientOnlyNote, b.session, b)
	}
	return l
}

// noteAll sends what waited for l to be open.
func (b *backend) noteAll(l *life) {
	for {
		b.mu.Lock()
		kept := b.notes.kept
		b.notes.kept = nil
		if len(kept) == 0 {
			b.notes.some.Store(false)
		}
		b.mu.Unlock()
		if len(kept) == 0 {
			return
		}
		for i := range kept {
			_ = l.up.Send(&link.Frame{Bytes: kept[i].Frame(), Class: link.Note}, nil)
		}
	}
}
