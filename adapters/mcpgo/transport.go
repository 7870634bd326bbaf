package mcpgo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// ErrNotStarted is what a Transport says that is used before Start.
var ErrNotStarted = errors.New("mcpgo: transport not started")

// Transport is one connection as a transport of mcp-go. Its methods are safe for
// concurrent use.
type Transport struct {
	o      Options
	open   func(context.Context, conn.Options) (*conn.Conn, error)
	stderr *tail              // of a child; nil otherwise
	life   context.Context    // ends with Close
	die    context.CancelFunc // ends life: a Start under way gives up

	notify  atomic.Pointer[func(mcp.JSONRPCNotification)]
	request atomic.Pointer[transport.RequestHandler]
	lost    atomic.Pointer[func(error)]

	link atomic.Pointer[link] // nil until Start has succeeded

	opening sync.Mutex // held by Start
}

// link is a connection that stands.
type link struct {
	conn    *conn.Conn
	mailbox *mailbox
}

var _ transport.BidirectionalInterface = (*Transport)(nil)

// New makes a transport of the connection that open opens, with the options that it
// is given. Start calls it, again if it failed; its ctx is for the opening alone. It
// is for connections that the other constructors do not make.
func New(open func(context.Context, conn.Options) (*conn.Conn, error), o Options) *Transport {
	t := &Transport{o: o.withDefaults(), open: open}
	t.life, t.die = context.WithCancel(context.Background())
	return t
}

// Start opens the connection; when it is open already, it does nothing. A Start
// that failed may be repeated. When ctx ends, the connection does, and with it a
// child process, as with mcp-go's own transports.
func (t *Transport) Start(ctx context.Context) error {
	t.opening.Lock()
	defer t.opening.Unlock()
	switch {
	case t.life.Err() != nil:
		return transport.ErrTransportClosed
	case t.link.Load() != nil:
		return nil
	}
	l := &link{mailbox: newMailbox(t.o.Buffer, t.deliver)}
	standing, end := context.WithCancel(ctx)
	o := t.o.Conn
	o.Profile = codec.MCP
	o.Batches = conn.SplitBatches // of 2025-03-26
	o.Handler = conn.HandlerFunc(func(own context.Context, r *conn.Inbound) { t.handle(ctx, own, l, r) })
	o.OnClose = t.ended(l, end)
	opening, opened := context.WithCancel(ctx)
	forget := context.AfterFunc(t.life, opened)
	c, err := t.open(opening, o)
	forget()
	opened()
	if err != nil {
		end()
		l.mailbox.close()
		return fmt.Errorf("mcpgo: start: %w", err)
	}
	l.conn = c
	context.AfterFunc(standing, func() { _ = c.Close() })
	t.link.Store(l)
	return nil
}

// ended is called when the connection has ended.
func (t *Transport) ended(l *link, forget func()) func(error) {
	next := t.o.Conn.OnClose
	return func(why error) {
		forget() // the ctx of Start
		l.mailbox.close()
		if t.stderr != nil {
			t.stderr.close()
		}
		if next != nil {
			next(why)
		}
		if f := t.lost.Load(); f != nil && !errors.Is(why, conn.ErrClosed) {
			(*f)(why)
		}
	}
}

// Close ends the connection, as conn.Conn.Close does: what is queued goes out,
// answers on their way still count, a child gets its time to end and is gone when
// Close returns. It may be called again, and from any callback; a Start that is
// under way, or comes later, fails.
func (t *Transport) Close() error {
	t.die()
	t.opening.Lock() // a Start under way is over
	l := t.link.Load()
	t.opening.Unlock()
	if l == nil {
		return nil
	}
	return l.conn.Close()
}

// GetSessionId is empty: a stream has no session id.
func (t *Transport) GetSessionId() string { return "" }

// SetNotificationHandler sets what gets the server's notifications, one at a time,
// on a goroutine of its own. It replaces the one before; what comes while there is
// none is dropped.
func (t *Transport) SetNotificationHandler(handler func(mcp.JSONRPCNotification)) {
	if handler == nil {
		t.notify.Store(nil)
		return
	}
	t.notify.Store(&handler)
}

// SetRequestHandler sets what answers the server's requests, several at once. Its
// ctx carries the values of Start's, and ends when the server withdraws the request
// or the connection ends. It replaces the one before; without one, requests but ping
// are answered "method not found".
func (t *Transport) SetRequestHandler(handler transport.RequestHandler) {
	if handler == nil {
		t.request.Store(nil)
		return
	}
	t.request.Store(&handler)
}

// SetConnectionLostHandler sets what is told why the connection ended when nobody
// closed it. client.Client.OnConnectionLost calls it.
func (t *Transport) SetConnectionLostHandler(handler func(error)) {
	if handler == nil {
		t.lost.Store(nil)
		return
	}
	t.lost.Store(&handler)
}

// Conn is the connection, for its counters and whatever else; nil before Start has
// succeeded.
func (t *Transport) Conn() *conn.Conn {
	if l := t.link.Load(); l != nil {
		return l.conn
	}
	return nil
}

// Stderr reads what the child process wrote to its standard error, the last 64 KiB
// of what was not read; it waits for more until the child has ended. Without a
// child it is empty. client.GetStderr calls it.
func (t *Transport) Stderr() io.Reader {
	if t.stderr == nil {
		return strings.NewReader("")
	}
	return t.stderr
}
