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
	conn  *Connection
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

var _ outlet = (*postStream)(nil)

func newPostStream(rawID []byte, limit int) *postStream {
	return &postStream{rawID: rawID, limit: limit, wake: make(chan struct{}, 1)}
}

func (p *postStream) bind(c *Connection) { p.conn = c }

func (p *postStream) ended() {}

// write takes a frame. Handlers wait for their reports, so only changes for a
// subscription can pile up; then the stream ends and the client comes again.
func (p *postStream) write(_ mcp.ExchangeID, e *mcp.Effect, ack func(error)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.gone || p.closed:
		return ErrExchangeClosed
	case p.bytes > 0 && p.bytes+len(e.Frame) > p.limit && !e.Final:
		return ErrSlowSubscriber
	}
	p.bytes += len(e.Frame)
	p.items = append(p.items, streamItem{frame: e.Frame, final: e.Final, status: statusOf(e), ack: ack})
	p.poke()
	return nil
}

func (p *postStream) close(mcp.ExchangeID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.poke()
}

func (p *postStream) full(int) (<-chan struct{}, bool) { return nil, false }

func (p *postStream) waiting() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(p.bytes)
}

func (p *postStream) fail(error) { p.conn.Close() }

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
func (p *postStream) serve(w http.ResponseWriter, r *http.Request, h *HTTP, c *Connection, x mcp.ExchangeID) {
	defer p.abandon()
	events := newSSEWriter(w, h.server.o.WriteTimeout)
	quiet := newPause(h.o.KeepAlive)
	defer quiet.stop()
	for {
		items, over := p.take()
		for _, i := range items {
			if err := i.send(events); err != nil {
				c.closeExchange(x)
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
				c.closeExchange(x)
				return
			}
			quiet.again()
		case <-r.Context().Done():
			c.closeExchange(x)
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
