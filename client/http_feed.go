package client

import (
	"bytes"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// feed is what a call on its way hears of besides its answer.
type feed struct {
	// mu is held while the call's function runs, which no other is to run beside,
	// and none after the call has returned.
	mu   sync.Mutex
	over bool
}

// tell runs f unless the call has ended.
func (f *feed) tell(run func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.over {
		run()
	}
}

// feeds finds calls by their progress token, since in the older era their progress
// may come on another stream.
type feeds struct {
	calls sync.Map // int64 → *exchange
}

func (f *feeds) open(x *exchange) {
	if x.r.progress == nil && x.r.notes == nil {
		return
	}
	n, _ := x.id.Int()
	f.calls.Store(n, x)
}

// shut ends the feed of x, after what runs.
func (f *feeds) shut(x *exchange) {
	if x.r.progress == nil && x.r.notes == nil {
		return
	}
	n, _ := x.id.Int()
	f.calls.Delete(n)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.over = true
}

func (f *feeds) find(raw []byte) *exchange {
	n, ok := token(raw)
	if !ok {
		return nil
	}
	v, ok := f.calls.Load(n)
	if !ok {
		return nil
	}
	return v.(*exchange)
}

// notified takes a notification of any stream.
func (l *httpLink) notified(m *codec.Message) {
	method := string(m.Method())
	if method == mcp.NoteProgress {
		if x := l.find(m.Progress()); x != nil && x.r.progress != nil {
			l.engine.Touch(x.id)
			x.tell(func() { x.r.progress(m.Params()) })
		}
		return
	}
	if method == mcp.NoteCancelled {
		l.cancelled(m)
		return
	}
	if x := l.find(m.Subscription()); x != nil && x.r.notes != nil {
		x.tell(func() { x.r.notes(method, m.Params()) })
		return
	}
	l.c.notified(method, m.Params())
}

// receive takes what comes on the session's own stream.
func (l *httpLink) receive(m *codec.Message) {
	if !m.Kind.IsResponse() {
		l.other(m)
		return
	}
	// The answer to a call whose own stream broke.
	if failure := m.Err(); failure != nil {
		l.engine.Reject(m.ID(), failure)
	} else {
		l.engine.Resolve(m.ID(), bytes.Clone(m.Result()))
	}
}

// other takes a message that is no answer.
func (l *httpLink) other(m *codec.Message) {
	if m.Kind == codec.KindRequest {
		l.requested(m)
		return
	}
	l.notified(m)
}
