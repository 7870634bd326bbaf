package sourcegraph

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// inbox keeps what the peer asks and notifies in order until the handler comes to
// it. The handler runs on a goroutine that lives while there is something.
//
// The reader waits when the inbox is full: then nothing is lost, and no more memory
// is taken. It waits for the handler alone, and no longer once Close was called.
type inbox struct {
	conn  *Conn
	limit int
	room  chan struct{} // a token after something was taken
	left  chan struct{} // closed by leave

	leaving sync.Once

	mu      sync.Mutex // protects the fields below
	queue   []arrival
	running bool
}

// arrival is a request or notification, with the ctx of its handler.
type arrival struct {
	ctx     context.Context
	request *jsonrpc2.Request
}

func newInbox(c *Conn, limit int) *inbox {
	switch {
	case limit == 0:
		limit = DefaultBacklog
	case limit < 0:
		limit = 1
	}
	return &inbox{conn: c, limit: limit, room: make(chan struct{}, 1), left: make(chan struct{})}
}

// leave lets nobody wait any more, and takes nothing in.
func (b *inbox) leave() { b.leaving.Do(func() { close(b.left) }) }

// put is called by the reader.
func (b *inbox) put(a arrival) {
	for !b.tryPut(a) {
		select {
		case <-b.room:
		case <-b.left:
			return
		}
	}
}

func (b *inbox) tryPut(a arrival) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) >= b.limit {
		return false
	}
	b.queue = append(b.queue, a)
	if !b.running {
		b.running = true
		go b.run()
	}
	return true
}

// run handles until nothing is left.
func (b *inbox) run() {
	<-b.conn.up
	finished := false
	defer func() {
		if !finished { // a handler ended this goroutine
			go b.run()
		}
	}()
	for {
		a, ok := b.take()
		if !ok {
			finished = true
			return
		}
		b.conn.handle(a)
	}
}

func (b *inbox) take() (arrival, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.queue, b.running = nil, false
		return arrival{}, false
	}
	a := b.queue[0]
	b.queue[0] = arrival{}
	b.queue = b.queue[1:]
	select {
	case b.room <- struct{}{}:
	default:
	}
	return a, true
}

// arrived takes a request or notification from the reader.
func (c *Conn) arrived(ctx context.Context, r *conn.Inbound) {
	a := arrival{ctx: c.ctx}
	var id jsonrpc2.ID
	if !r.IsNotification() {
		r.Detach()
		id = c.asked.add(r)
		if c.o.conn.Profile == codec.LSP {
			a.ctx = requestContext{ctx, c.ctx}
		}
	}
	a.request = incoming(r, id)
	c.inbox.put(a)
}

// handle runs the handler. One that panics harms nothing else.
func (c *Conn) handle(a arrival) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if !a.request.Notif {
			if r := c.asked.take(a.request.ID); r != nil {
				_ = c.answer(c.ctx, r, nil, &codec.Error{Code: codec.CodeInternal, Message: "handler panicked"})
			}
		}
		if c.o.logger != nil {
			c.o.logger.Printf("jsonrpc2: handler of %s panicked: %v\n", a.request.Method, v)
		}
		if c.o.conn.OnPanic != nil {
			c.o.conn.OnPanic(fmt.Errorf("handler of %s: %v", a.request.Method, v), debug.Stack())
		}
	}()
	if c.hooked() {
		c.onRecv(a.request, nil)
	}
	c.handler.Handle(a.ctx, c.library.conn(), a.request)
}

// requestContext ends when the request does, and has the values of NewConn's ctx.
type requestContext struct {
	context.Context
	values context.Context
}

func (r requestContext) Value(key any) any { return r.values.Value(key) }
