package serve

import (
	"net/http"
	"sync"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// postStream carries what is written to one exchange of the modern era to the
// goroutine of its HTTP request.
type postStream struct {
	rawID []byte // of the request
	limit int
	wake  chan struct{}

	mu     sync.Mutex // protects the fields below
	items  []streamItem
	bytes  int
	closed bool // nothing follows
	gone   bool // the client went, nothing is taken
}

type streamItem struct {
	frame  []byte
	final  bool
	status int
	ack    func(error)
}

var _ Outlet = (*postStream)(nil)

func newPostStream(rawID []byte, limit int) *postStream {
	return &postStream{rawID: rawID, limit: limit, wake: make(chan struct{}, 1)}
}

// Ended implements Outlet: whoever serves the response finds out by Close.
func (p *postStream) Ended() {}

// Write takes a frame. Handlers wait for their reports, so only changes for a
// subscription can pile up; then the stream ends and the client comes again.
func (p *postStream) Write(_ mcp.ExchangeID, f Outgoing) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.gone || p.closed:
		return ErrExchangeClosed
	case p.bytes > 0 && p.bytes+len(f.Frame) > p.limit && !f.Final:
		return ErrSlowSubscriber
	}
	p.bytes += len(f.Frame)
	p.items = append(p.items, streamItem{frame: f.Frame, final: f.Final, status: f.status(), ack: f.Ack})
	p.poke()
	return nil
}

// Close implements Outlet.
func (p *postStream) Close(mcp.ExchangeID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.poke()
}

// Waiting implements Outlet.
func (p *postStream) Waiting() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(p.bytes)
}

func (p *postStream) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// take gives what is queued, and whether anything follows.
func (p *postStream) take() (items []streamItem, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	items, p.items, p.bytes = p.items, nil, 0
	return items, p.closed
}

// abandon refuses what is queued and all that comes.
func (p *postStream) abandon() {
	p.mu.Lock()
	p.gone = true
	items := p.items
	p.items = nil
	p.mu.Unlock()
	for _, i := range items {
		if i.ack != nil {
			i.ack(ErrExchangeClosed)
		}
	}
}

// serve writes the response: one JSON object when the answer comes first and soon,
// else an event stream. When the client goes, the request is cancelled.
func (p *postStream) serve(w http.ResponseWriter, r *http.Request, h *HTTP, c Peer, x mcp.ExchangeID) {
	defer p.abandon()
	events := newSSEWriter(w, h.front.o.WriteTimeout)
	quiet := newPause(h.o.KeepAlive)
	defer quiet.stop()
	for {
		items, over := p.take()
		for _, i := range items {
			if err := i.send(events); err != nil {
				c.CloseExchange(x)
				return
			}
		}
		if over {
			p.finish(events, len(items) > 0)
			return
		}
		if len(items) > 0 {
			quiet.again()
		}
		select {
		case <-p.wake:
		case <-quiet.over():
			if events.comment() != nil {
				c.CloseExchange(x)
				return
			}
			quiet.again()
		case <-r.Context().Done():
			c.CloseExchange(x)
			return
		}
	}
}

// send writes an item and tells who waits for that.
func (i *streamItem) send(events *sseWriter) error {
	var err error
	if i.final && !events.began {
		events.began = true // what follows is no event
		err = writeJSON(events.to, i.status, i.frame)
	} else {
		err = events.event("", i.frame)
	}
	if i.ack != nil {
		i.ack(err)
	}
	return err
}

// finish ends a response that has nothing in it: the server was closed.
func (p *postStream) finish(events *sseWriter, sent bool) {
	if !events.began && !sent {
		_ = writeJSON(events.to, http.StatusServiceUnavailable, codec.AppendError(nil, p.rawID, &codec.Error{Code: codec.CodeInternal, Message: "shutting down"}))
	}
}

// pause tells when nothing was sent for a while.
type pause struct {
	after time.Duration
	timer *time.Timer
}

func newPause(after time.Duration) *pause {
	if after <= 0 {
		return &pause{}
	}
	return &pause{after: after, timer: time.NewTimer(after)}
}

func (p *pause) over() <-chan time.Time {
	if p.timer == nil {
		return nil
	}
	return p.timer.C
}

func (p *pause) again() {
	if p.timer != nil {
		p.timer.Reset(p.after)
	}
}

func (p *pause) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}
