package gateway

import (
	"context"
	"errors"
	"slices"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
)

// stream is the one subscription that the gateway has at a server of the modern era for
// all its clients of the older one: they hear of changes without asking, and subscribe
// to resources one by one. When what they want changes, a new one takes the old one's
// place, and only then is that ended, so that nothing is missed.
//
// Its fields are guarded by the hub's mu.
type stream struct {
	attended bool  // there has been a client of the older era
	busy     bool  // a goroutine sees to it
	number   int64 // the call that it is; 0 while there is none
	next     int64 // the one that is about to take its place
	life     *life
	uris     []string      // what it was asked for
	granted  chan struct{} // closed when next is acknowledged, or over
}

// attend says that a client of the older era uses a modern server.
func (h *hub) attend() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.stream.attended {
		h.stream.attended = true
		h.stream.seeTo(h)
	}
}

// seeTo begins to bring the subscription to what is wanted. h.mu is held.
func (st *stream) seeTo(h *hub) {
	if !st.busy {
		st.busy = h.b.work(h.follow)
	}
}

// follow subscribes until the server has been asked for all that is wanted.
func (h *hub) follow() {
	for {
		h.mu.Lock()
		st := &h.stream
		l := h.b.current()
		uris, waiting := h.wantedLocked()
		isCurrent := st.life == l && slices.Equal(uris, st.uris)
		if isCurrent || l == nil {
			st.busy = false
			h.mu.Unlock()
			h.answer(waiting, l, nil)
			return
		}
		old := st.number
		if st.life != l {
			old = 0
		}
		st.granted = make(chan struct{})
		granted := st.granted
		st.life, st.uris = l, uris
		h.mu.Unlock()
		err := h.relisten(l, uris, granted)
		if old != 0 {
			h.b.engine.Cancel(codec.IntID(old), errReplaced)
			h.b.cancel(old, link.Cancel{})
		}
		h.answer(waiting, l, err)
	}
}

var errReplaced = errors.New("gateway: another subscription took its place")

// wantedLocked is what clients want to hear of, and the calls that wait for it.
func (h *hub) wantedLocked() (uris []string, waiting map[*call]*topic) {
	waiting = make(map[*call]*topic)
	for uri, t := range h.topics {
		for _, c := range t.waiting {
			waiting[c] = t
		}
		t.waiting = nil
		if t.wanted() {
			uris = append(uris, uri)
		} else {
			delete(h.topics, uri)
			h.recount()
		}
	}
	slices.Sort(uris)
	return uris, waiting
}

// answer tells calls of resources/subscribe what became of it.
func (h *hub) answer(waiting map[*call]*topic, l *life, err error) {
	for c, t := range waiting {
		if l == nil || err != nil {
			h.giveUp(c.session, t.uri)
		}
		switch {
		case l == nil:
			c.finish(nil, Lost, nil, h.b.away().answer())
		case err != nil:
			c.finish(nil, Lost, nil, failureOf(h.b.target.o.Name, mcp.MethodListen, err).answer())
		default:
			c.finish(nil, Answered, emptyResult, nil)
		}
	}
}

// relisten begins a new subscription and waits until the server has acknowledged it.
func (h *hub) relisten(l *life, uris []string, granted chan struct{}) error {
	filter, err := codec.AppendValue(nil, listening{Tools: true, Prompts: true, Resources: true, URIs: uris})
	if err != nil {
		return err
	}
	params := append(append([]byte(`{`), ownMeta...), `,"notifications":`...)
	params = append(append(params, filter...), '}')
	ended := make(chan error, 1)
	begun, err := h.b.engine.Begin(h.b.ctx, engine.CallOptions[*arrival]{
		Method: mcp.MethodListen, NoWait: true, Timeout: engine.NoTimeout, IdleTimeout: engine.NoTimeout,
		Notify: func(o engine.Outcome[*arrival]) {
			number, _ := o.ID.Int()
			h.ended(number)
			err := o.Err
			if o.Status == engine.Resolved {
				if m, _ := o.Value.take(); m.Kind == codec.KindError {
					err = m.Err()
				}
				o.Value.done()
			}
			ended <- err
		},
	})
	if err != nil {
		return err
	}
	number, ok := begun.ID().Int()
	if !ok {
		return <-ended
	}
	h.mu.Lock()
	h.stream.next = number
	h.mu.Unlock()
	f := link.Frame{Bytes: codec.AppendRequest(nil, begun.ID(), mcp.MethodListen, params), Call: number, Class: link.Ask}
	if err := l.up.Send(&f, nil); err != nil {
		h.b.engine.Reject(begun.ID(), err)
	}
	ctx, cancel := context.WithTimeout(h.b.ctx, DefaultTimeout)
	defer cancel()
	select {
	case <-granted:
	case err := <-ended:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	h.mu.Lock()
	h.stream.number, h.stream.next = number, 0
	h.mu.Unlock()
	return nil
}

// ended notes that the server has ended a subscription. It is begun anew when what is
// wanted changes, or the server is opened again: one that ends it at once has nothing
// to say.
func (h *hub) ended(number int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stream.number == number {
		h.stream.number = 0
	}
}

// owns reports whether a call is the gateway's own subscription.
func (h *hub) owns(number int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return number != 0 && (number == h.stream.number || number == h.stream.next)
}

// published takes a notification of the gateway's own subscription to the clients of
// the older era; false says that it is of another.
func (h *hub) published(burst *link.Burst, number int64, m *codec.Message) bool {
	h.mu.Lock()
	st := &h.stream
	is := number != 0 && (number == st.number || number == st.next)
	method := string(m.Method())
	if is && method == mcp.NoteAcknowledged && st.granted != nil {
		select {
		case <-st.granted:
		default:
			close(st.granted)
		}
	}
	h.mu.Unlock()
	switch {
	case !is:
		return false
	case isChange(method):
		h.b.fanOut(burst, m)
		h.changed(burst, method, m)
	case method == mcp.NoteResourceUpdated:
		h.updated(burst, m)
	}
	return true
}

// ownMeta is what the gateway says of itself in requests of the modern era.
var ownMeta = []byte(`"_meta":{"` + mcp.MetaProtocolVersion + `":"` + string(mcp.Modern) + `","` + mcp.MetaClientInfo + `":{"name":"` + Implementation +
	`","version":"1"},"` + mcp.MetaClientCapabilities + `":{}}`)
