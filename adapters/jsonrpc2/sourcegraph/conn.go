package sourcegraph

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/link"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// Conn is a connection in the manner of *jsonrpc2.Conn. Its methods are safe for
// concurrent use.
type Conn struct {
	conn    *conn.Conn // nil when the options were refused
	o       options
	handler jsonrpc2.Handler
	ctx     context.Context    // of handlers: ends with the connection
	end     context.CancelFunc // ends ctx
	up      chan struct{}      // closed when conn is set
	ended   chan struct{}      // closed when the connection has ended
	closed  atomic.Bool        // Close was called
	inbox   *inbox
	asked   asked
	library *library
	probe   func() *probe
}

var _ jsonrpc2.JSONRPC2 = (*Conn)(nil)

// NewConn is jsonrpc2.NewConn: a connection over stream, which belongs to it, with
// h for what the peer asks and notifies, one after the other in the order in which
// they came. Nil refuses requests with "method not found". When ctx ends the
// connection does.
//
// A stream that this package made is read and written as bytes; any other
// ObjectStream is used message by message.
//
// Options of With that conn.New refuses leave a Conn that is closed: Err tells why.
func NewConn(ctx context.Context, stream jsonrpc2.ObjectStream, h jsonrpc2.Handler, opts ...Option) *Conn {
	c := &Conn{handler: h, up: make(chan struct{}), ended: make(chan struct{})}
	for _, opt := range opts {
		if opt != nil {
			opt(&c.o)
		}
	}
	c.ctx, c.end = context.WithCancel(ctx)
	c.inbox = newInbox(c, c.o.conn.MaxQueued)
	c.library = newLibrary(c)
	c.probe = sync.OnceValue(func() *probe { return newProbe(c.ctx) })

	bytes, framer := open(stream)
	made, err := conn.New(bytes, c.settings(framer))
	if err != nil {
		_ = stream.Close()
		c.over(err)
		return c
	}
	c.conn = made
	close(c.up)
	// Not at once: Close waits, and whoever ends ctx need not.
	context.AfterFunc(ctx, func() { _ = c.Close() })
	return c
}

// settings are the options of the connection below.
func (c *Conn) settings(framer codec.Framer) conn.Options {
	o := c.o.conn
	o.Framer = framer
	o = link.Settle(o, nil)
	o.MaxQueued = max(o.MaxQueued, 1)
	o.Inline = true
	o.Handler = nil
	if c.handler != nil {
		o.Handler = conn.HandlerFunc(c.arrived)
	}
	o.OnStray = c.stray
	o.OnClose = c.over
	return o
}

// stray logs what could not be used.
func (c *Conn) stray(s conn.Stray) {
	if c.o.logger != nil {
		c.o.logger.Printf("jsonrpc2: ignoring what came in: %v: %s\n", s.Reason, s.Frame)
	}
	if next := c.o.conn.OnStray; next != nil {
		next(s)
	}
}

// over is called when the connection has ended.
func (c *Conn) over(why error) {
	c.end()
	close(c.ended)
	if c.o.logger != nil && !errors.Is(why, conn.ErrClosed) && !isEOF(why) {
		c.o.logger.Printf("jsonrpc2: protocol error: %v\n", why)
	}
	if next := c.o.conn.OnClose; next != nil {
		next(why)
	}
}

// Close ends the connection, as conn.Conn.Close does: what is queued goes out, and
// answers on their way still count; then pending calls fail with
// jsonrpc2.ErrClosed. It is jsonrpc2.ErrClosed when the connection has ended
// before.
func (c *Conn) Close() error {
	if c.closed.Swap(true) || c.conn == nil || c.conn.Err() != nil {
		return jsonrpc2.ErrClosed
	}
	c.inbox.leave()
	return c.conn.Close()
}

// DisconnectNotify gives a channel that is closed when the connection has ended.
func (c *Conn) DisconnectNotify() <-chan struct{} { return c.ended }

// Conn is the connection below, for its counters, timeouts and whatever else; nil
// when options were refused.
func (c *Conn) Conn() *conn.Conn { return c.conn }
