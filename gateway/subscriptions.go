package gateway

import (
	"errors"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/gateway/route"
	"github.com/correlator-go/correlator/mcp"
)

// hub knows who wants to hear of which resources, where a way to a server is shared or
// the eras differ. To the server the gateway is one subscriber: the first client that
// wants a resource makes it subscribe, the last that wants it no more, or goes, makes
// it unsubscribe, and a server that was lost and opened again is told anew.
//
//	resources/subscribe ──▶ topic: wanted ──settle──▶ resources/subscribe, once
//	subscriptions/listen ─▶   (by uri)      └──────▶ or subscriptions/listen, one for all topics
type hub struct {
	b *backend

	interest atomic.Int64 // topics and listens, for who may not take mu

	mu     sync.Mutex // guards the fields below
	topics map[string]*topic
	// of are the topics of each session, to be given up when it goes.
	of map[*Session]map[string]*topic
	// listens are the clients of the modern era that listen to a server of the older.
	listens map[*call]*listening
	stream  stream
}

// topic is a resource that somebody wants to hear of.
type topic struct {
	uri      string
	sessions map[*Session]struct{} // of the older era
	listens  map[*call]struct{}    // of the modern one
	// life is the way on which the server was told, nil if it was not.
	life *life
	busy bool // a goroutine sees to it
	// waiting are calls to be answered when the server has said what it thinks of it.
	waiting []*call
}

func (t *topic) wanted() bool { return len(t.sessions)+len(t.listens) > 0 }

// topicsMost is how many resources one client may subscribe to.
const topicsMost = 1 << 12

var emptyResult = []byte("{}")

// subscribe takes resources/subscribe and resources/unsubscribe.
func (h *hub) subscribe(burst *link.Burst, c *call, m *codec.Message) {
	uri, ok := route.Text(m.Name())
	if !c.take() {
		return
	}
	if !ok {
		c.finish(burst, Refused, nil, &codec.Error{Code: codec.CodeInvalidParams, Message: "invalid params: uri must be a string"})
		return
	}
	s := c.session
	if c.method == mcp.MethodUnsubscribe {
		h.giveUp(s, uri)
		c.finish(burst, Answered, emptyResult, nil)
		return
	}
	h.mu.Lock()
	if len(h.of[s]) >= topicsMost {
		h.mu.Unlock()
		c.finish(burst, Refused, nil, h.b.busy("too many subscriptions").answer())
		return
	}
	t := h.topic(uri)
	if t.sessions == nil {
		t.sessions = make(map[*Session]struct{})
	}
	t.sessions[s] = struct{}{}
	if h.of == nil {
		h.of = make(map[*Session]map[string]*topic)
	}
	if h.of[s] == nil {
		h.of[s] = make(map[string]*topic)
	}
	h.of[s][uri] = t
	known := t.life != nil && t.life == h.b.current() && !t.busy
	if !known {
		t.waiting = append(t.waiting, c)
		h.seeTo(t)
	}
	h.mu.Unlock()
	if known {
		c.finish(burst, Answered, emptyResult, nil)
	}
	if s.isGone() {
		h.left(s) // nobody else would
	}
}

// topic finds or makes one. h.mu is held.
func (h *hub) topic(uri string) *topic {
	t := h.topics[uri]
	if t == nil {
		t = &topic{uri: uri}
		if h.topics == nil {
			h.topics = make(map[string]*topic)
		}
		h.topics[uri] = t
		h.recount()
	}
	return t
}

// recount notes how much is wanted. h.mu is held.
func (h *hub) recount() { h.interest.Store(int64(len(h.topics) + len(h.listens))) }

// current is the way that is open. Who finds out whether it may end takes it away for
// a moment, under mu.
func (b *backend) current() *life {
	if l := b.live.Load(); l != nil {
		return l
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.live.Load()
}

// seeTo begins to bring the server to what is wanted. h.mu is held.
func (h *hub) seeTo(t *topic) {
	if h.b.isModernOnly() {
		h.stream.seeTo(h)
		return
	}
	if !t.busy {
		t.busy = h.b.work(func() { h.settle(t) })
	}
}

// work runs f on a goroutine that the end of the target waits for; false says that the
// way has ended.
func (b *backend) work(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return false
	}
	b.target.work.Go(f)
	return true
}

// giveUp notes that s does not want a resource any more.
func (h *hub) giveUp(s *Session, uri string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.of[s][uri]
	if t == nil {
		return
	}
	delete(t.sessions, s)
	delete(h.of[s], uri)
	if len(h.of[s]) == 0 {
		delete(h.of, s)
	}
	h.seeTo(t)
}

// left notes that a client has gone.
func (h *hub) left(s *Session) {
	h.mu.Lock()
	uris := make([]string, 0, len(h.of[s]))
	for uri := range h.of[s] {
		uris = append(uris, uri)
	}
	h.mu.Unlock()
	for _, uri := range uris {
		h.giveUp(s, uri)
	}
}

// settle asks the server until it has been told what is wanted.
func (h *hub) settle(t *topic) {
	for {
		h.mu.Lock()
		l, want := h.b.current(), t.wanted()
		told := t.life != nil && t.life == l
		if want == told || l == nil {
			waiting := t.waiting
			t.waiting, t.busy = nil, false
			if !want {
				t.life = nil
				delete(h.topics, t.uri)
				h.recount()
			}
			h.mu.Unlock()
			for _, c := range waiting {
				if want && l == nil {
					c.finish(nil, Lost, nil, h.b.away().answer())
				} else {
					c.finish(nil, Answered, emptyResult, nil)
				}
			}
			return
		}
		h.mu.Unlock()
		method := mcp.MethodSubscribe
		if !want {
			method = mcp.MethodUnsubscribe
		}
		params := append(codec.AppendString([]byte(`{"uri":`), t.uri), '}')
		_, err := h.b.ask(h.b.ctx, l, method, params)
		if h.told(t, l, want, err) {
			return
		}
	}
}

// told notes what the server said of a topic; true says that there is no more to do.
func (h *hub) told(t *topic, l *life, want bool, err error) bool {
	h.mu.Lock()
	if err == nil || !want {
		t.life = nil // a server that refuses to unsubscribe will be asked no better
		if want {
			t.life = l
		}
		h.mu.Unlock()
		return false
	}
	waiting := t.waiting
	t.waiting = nil
	for _, c := range waiting {
		h.drop(t, c)
	}
	lost := h.b.current() != l
	t.busy = lost
	if !t.wanted() && !lost {
		delete(h.topics, t.uri)
		h.recount()
	}
	h.mu.Unlock()
	outcome, failed := refusalOf(h.b.target.o.Name, mcp.MethodSubscribe, err)
	for _, c := range waiting {
		c.finish(nil, outcome, nil, failed)
	}
	return !lost
}

// refusalOf is what a client is told of what the gateway asked a server for it: the
// server's own error, or why there is none.
func refusalOf(upstream, method string, err error) (Outcome, *codec.Error) {
	if refused, ok := errors.AsType[*codec.Error](err); ok {
		return Failed, refused
	}
	return Lost, failureOf(upstream, method, err).answer()
}

// drop takes back what c wanted. h.mu is held.
func (h *hub) drop(t *topic, c *call) {
	s := c.session
	delete(t.sessions, s)
	delete(h.of[s], t.uri)
	if len(h.of[s]) == 0 {
		delete(h.of, s)
	}
}

// reopened tells a server that is open again what is wanted of it.
func (h *hub) reopened() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.topics {
		h.seeTo(t)
	}
	if h.b.isModernOnly() && (h.stream.attended || len(h.listens) > 0) {
		h.stream.seeTo(h)
	}
}

// updated takes notifications/resources/updated to who wants to hear of it: of the
// resource itself, or of one that it is a part of.
func (h *hub) updated(burst *link.Burst, m *codec.Message) {
	uri, _ := route.Text(memberOf(m.Params(), "uri"))
	h.mu.Lock()
	sessions, listens := map[*Session]struct{}{}, map[*call]struct{}{}
	for t := range h.about(uri) {
		for s := range t.sessions {
			sessions[s] = struct{}{}
		}
		for c := range t.listens {
			listens[c] = struct{}{}
		}
	}
	h.mu.Unlock()
	if len(sessions)+len(listens) == 0 {
		h.b.target.g.dropped(UnownedNote, nil, h.b)
		return
	}
	m = h.b.target.shown(mcp.NoteResourceUpdated, m)
	for s := range sessions {
		s.send(burst, &link.Frame{Bytes: m.Frame(), Class: link.Note})
	}
	for c := range listens {
		c.hearOf(burst, m)
	}
}

// about gives the topics that are uri, or that it lies below. h.mu is held.
func (h *hub) about(uri string) iter.Seq[*topic] {
	return func(yield func(*topic) bool) {
		if t := h.topics[uri]; t != nil && !yield(t) {
			return
		}
		for i := range len(uri) - 1 {
			if uri[i] != '/' {
				continue
			}
			for _, whole := range []string{uri[:i], uri[:i+1]} {
				if t := h.topics[whole]; t != nil && !yield(t) {
					return
				}
			}
		}
	}
}

// away is what is said of a server that is not open.
func (b *backend) away() *Failure {
	return &Failure{Code: CodeUpstreamLost, Text: "upstream \"" + b.target.o.Name + "\" is not connected at the moment", Upstream: b.target.o.Name, RetryAfter: retryAfter}
}
