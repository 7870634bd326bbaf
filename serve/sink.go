package serve

import (
	"context"
	"errors"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// Sink is where the frames of a transport of another kind go. Its methods are
// called by one goroutine, in order, and may wait; what they wait with is bounded
// by Options.WriteBuffer.
type Sink interface {
	// Write sends one frame of an exchange, a JSON object without a newline,
	// which is the Sink's own. An error closes that exchange and no other.
	Write(x mcp.ExchangeID, frame []byte) error
	// Close says that nothing follows on an exchange.
	Close(x mcp.ExchangeID)
}

// Connect opens a connection whose frames are brought by Send and go to sink. ctx
// gives values to the handlers' contexts; its end closes the connection. The error
// is ErrStopped.
func (s *Server) Connect(ctx context.Context, caller mcp.Caller, sink Sink) (*Connection, error) {
	q := &sinkQueue{sink: sink, limit: s.o.WriteBuffer, wake: make(chan struct{}, 1)}
	c, err := s.open(ctx, caller, q)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, c.Close)
	go func() {
		defer stop()
		q.run()
	}()
	return c, nil
}

// Send gives a frame to a connection made by Connect, on an exchange of
// mcp.NewExchangeID. The frame is borrowed until Send returns. correlation is the
// transport's value, "" if none.
//
// A refusal writes nothing, so that the transport answers as it must: ErrStopped,
// or a *LimitError for ErrFrameTooLarge, ErrFrameTooDeep and ErrTooManyLive. What
// the reducer refuses is no error; the peer is told. Send waits while twice
// Options.WriteBuffer waits to be written.
func (c *Connection) Send(x mcp.ExchangeID, frame []byte, correlation string) error {
	for {
		room, full := c.out.full(2)
		if !full {
			break
		}
		select {
		case <-room:
		case <-c.done:
		}
	}
	in := delivery{exchange: x, frame: frame, caller: c.caller, correlation: correlation}
	var e codec.Envelope
	var limit *LimitError
	err := codec.Scan(frame, &e, codec.ScanOptions{MaxDepth: c.o.MaxDepth})
	deep := errors.Is(err, codec.ErrTooDeep)
	if errors.Is(err, codec.ErrBatch) {
		deep = lookIntoBatch(frame, c.o.MaxDepth).deep
	}
	switch {
	case c.isClosed():
		return ErrStopped
	case len(frame) > c.o.MaxFrame:
		limit = &LimitError{Err: ErrFrameTooLarge, Have: len(frame), Limit: c.o.MaxFrame}
	case deep:
		limit = &LimitError{Err: ErrFrameTooDeep, Limit: c.o.MaxDepth}
	case err == nil:
		in.envelope = &e
		if e.Kind == codec.KindRequest {
			if id, err := codec.ParseID(e.RawID.Of(frame), codec.MCP); err == nil {
				in.ids = []codec.ID{id}
			}
		}
	}
	if limit != nil {
		c.mu.Lock()
		c.rejected(x, limit)
		c.unlock()
		return limit
	}
	return c.receive(&in)
}

// CloseExchange says that the peer of an exchange went: its handler is cancelled,
// and nothing more is written to it.
func (c *Connection) CloseExchange(x mcp.ExchangeID) { c.closeExchange(x) }

func (c *Connection) isClosed() bool {
	c.mu.Lock()
	defer c.unlock()
	return c.closed
}

// sinkQueue brings frames to a Sink, which may wait, from under the lock, which
// may not.
type sinkQueue struct {
	conn  *Connection
	sink  Sink
	limit int
	wake  chan struct{}

	mu      sync.Mutex // protects the fields below
	items   []sinkItem
	bytes   int
	room    chan struct{}
	wasFull bool
	over    bool
}

type sinkItem struct {
	exchange mcp.ExchangeID
	frame    []byte // nil closes the exchange
	ack      func(error)
}

var _ outlet = (*sinkQueue)(nil)

func (q *sinkQueue) bind(c *Connection) { q.conn = c }

func (q *sinkQueue) write(x mcp.ExchangeID, e *mcp.Effect, ack func(error)) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.over {
		return ErrStopped
	}
	q.put(sinkItem{exchange: x, frame: e.Frame, ack: ack})
	return nil
}

func (q *sinkQueue) close(x mcp.ExchangeID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.put(sinkItem{exchange: x})
}

// itemOverhead is what an item is counted with beside its bytes: the end of an
// exchange takes room as well.
const itemOverhead = 64

func (q *sinkQueue) put(i sinkItem) {
	q.bytes += len(i.frame) + itemOverhead
	q.items = append(q.items, i)
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *sinkQueue) full(times int) (<-chan struct{}, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bytes < times*q.limit || q.over {
		return nil, false
	}
	q.wasFull = true
	if q.room == nil {
		q.room = make(chan struct{})
	}
	return q.room, true
}

func (q *sinkQueue) waiting() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return int64(q.bytes)
}

func (q *sinkQueue) fail(error) { q.conn.Close() }

// ended lets run bring what is queued, and end.
func (q *sinkQueue) ended() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// run brings what is queued to the sink, until ended and the queue is empty.
func (q *sinkQueue) run() {
	for {
		q.mu.Lock()
		items, ended := q.items, q.over
		q.items = nil
		q.mu.Unlock()
		if len(items) == 0 {
			if ended {
				return
			}
			<-q.wake
			continue
		}
		failed := make(map[mcp.ExchangeID]error)
		for _, i := range items {
			q.deliver(i, failed)
		}
	}
}

func (q *sinkQueue) deliver(i sinkItem, failed map[mcp.ExchangeID]error) {
	if i.frame == nil {
		q.sink.Close(i.exchange)
		q.wrote(itemOverhead)
		return
	}
	err := failed[i.exchange]
	if err == nil {
		err = q.sink.Write(i.exchange, i.frame)
	}
	if i.ack != nil {
		i.ack(err)
	}
	q.wrote(len(i.frame) + itemOverhead)
	if err != nil && failed[i.exchange] == nil {
		failed[i.exchange] = err
		q.conn.closeExchange(i.exchange)
	}
}

// wrote gives room back.
func (q *sinkQueue) wrote(n int) {
	q.mu.Lock()
	q.bytes -= n
	tell := q.wasFull && q.bytes < q.limit
	if tell {
		q.wasFull = false
	}
	if q.room != nil {
		close(q.room)
		q.room = nil
	}
	q.mu.Unlock()
	if tell {
		q.conn.replay()
	}
}
