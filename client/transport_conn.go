package client

import (
	"context"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
)

// connLink is a link over one connection.
type connLink struct{ conn *conn.Conn }

func newConnLink(c *Client, open func(conn.Options) (*conn.Conn, error)) (link, error) {
	o := c.o.Conn
	o.Profile = codec.MCP
	o.Timeout, o.IdleTimeout = c.o.Timeout, c.o.IdleTimeout
	o.Batches = conn.SplitBatches // of 2025-03-26
	o.Handler = conn.HandlerFunc(c.handle)
	cn, err := open(o)
	if err != nil {
		return nil, err
	}
	return connLink{cn}, nil
}

// handle serves what the server asks and notifies on its own.
func (c *Client) handle(ctx context.Context, r *conn.Inbound) {
	if r.IsNotification() {
		c.notified(r.Method(), r.Params())
		return
	}
	result, failure := c.serve(ctx, r.Method(), r.Params())
	// A reply that fails finds the connection closed or the request withdrawn:
	// nobody is there to be told.
	if failure != nil {
		_ = r.ReplyError(failure)
		return
	}
	_ = r.Reply(result)
}

func (l connLink) call(ctx context.Context, r *request) ([]byte, error) {
	o := conn.CallOptions{Timeout: r.timeout, IdleTimeout: r.idle, ID: &r.id}
	if r.progress != nil {
		o.Progress = func(p conn.Progress) { r.progress(p.Params) }
	}
	if r.notes != nil {
		o.Subscription = func(n conn.Notification) { r.notes(n.Method, n.Params) }
	}
	return l.conn.Call(ctx, r.method, r.params, o)
}

func (l connLink) notify(ctx context.Context, method string, params []byte) error {
	return l.conn.Notify(ctx, method, params)
}

// overTransport is a connection of the caller's.
type overTransport struct{ conn *conn.Conn }

// Over is the way over a connection that stands. It stays the caller's: the client
// does not close it, and what the server asks or notifies on its own goes to the
// connection's Handler, not to Options. So does the caller see every limit, counter
// and call of it, and may make calls beside the client's: [Client.RequestMeta] is
// what those must carry. The connection's Profile must be codec.MCP; of
// Options.Conn nothing counts.
func Over(c *conn.Conn) Transport { return overTransport{c} }

func (t overTransport) open(_ context.Context, c *Client) (link, error) {
	return overLink{connLink(t), c}, nil
}

func (t overTransport) peer() string  { return "" }
func (t overTransport) reopens() bool { return false }

// overLink is a connLink that leaves the connection open. Its timeouts are those of
// the client, not of the connection.
type overLink struct {
	connLink
	c *Client
}

func (l overLink) call(ctx context.Context, r *request) ([]byte, error) {
	own := *r
	if own.timeout == 0 {
		own.timeout = l.c.o.Timeout
	}
	if own.idle == 0 {
		own.idle = l.c.o.IdleTimeout
	}
	text, err := l.connLink.call(ctx, &own)
	r.id = own.id
	return text, err
}

func (l overLink) close() error { return nil }

func (l connLink) adopt(mcp.Revision)    {}
func (l connLink) close() error          { return l.conn.Close() }
func (l connLink) done() <-chan struct{} { return l.conn.Done() }
func (l connLink) err() error            { return l.conn.Err() }
func (l connLink) sessionID() string     { return "" }
