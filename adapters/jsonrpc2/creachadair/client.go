package creachadair

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/creachadair/jrpc2/channel"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/link"
	"github.com/correlator-go/correlator/conn"
)

// ErrStopped is what calls get after Close, and OnStop for it.
var ErrStopped = errors.New("the client has been stopped")

// Client is a client in the manner of *jrpc2.Client. Its methods are safe for
// concurrent use.
type Client struct {
	o       ClientOptions
	conn    *conn.Conn
	crowd   link.Crowd
	up      chan struct{} // closed when conn is set
	ended   chan struct{} // closed when the connection has ended
	stopped atomic.Bool   // Close was called
}

// NewClient is jrpc2.NewClient: a client on a channel, which belongs to it. A
// channel that this package made is read and written as bytes; any other one is
// used message by message. Options in Conn that conn.New refuses are a mistake of
// the program, and panic; [Open] returns them.
func NewClient(ch channel.Channel, opts *ClientOptions) *Client {
	c, err := Open(ch, opts)
	if err != nil {
		panic(err)
	}
	return c
}

// Open is NewClient that returns a *conn.OptionError when options are refused; the
// channel is then still the caller's.
func Open(ch channel.Channel, opts *ClientOptions) (*Client, error) {
	c := &Client{up: make(chan struct{}), ended: make(chan struct{})}
	if opts != nil {
		c.o = *opts
	}
	bytes, framer := open(ch)
	o := c.o.Conn
	o.Framer = framer
	o = link.Settle(o, nil)
	o.Batches = conn.SplitBatches
	o.Inline = false
	o.Handler = conn.HandlerFunc(c.handle)
	o.OnStray = c.stray
	o.OnClose = c.over
	made, err := conn.New(c.crowd.Stream(bytes), o)
	if err != nil {
		return nil, fmt.Errorf("creachadair: %w", err)
	}
	c.conn = made
	close(c.up)
	return c, nil
}

// Conn is the connection below, for its counters and whatever else.
func (c *Client) Conn() *conn.Conn { return c.conn }

// Close stops the client, as conn.Conn.Close does: what is queued goes out, and
// answers on their way still count; then pending calls end with context.Canceled.
// The error is why the connection ended before, nil if the server closed it in order.
// It waits for OnStop, so it is not called from there.
func (c *Client) Close() error {
	c.stopped.Store(true)
	_ = c.conn.Close() // always nil
	<-c.ended
	if why := c.why(); !uninteresting(why) {
		return why
	}
	return nil
}

// IsStopped reports whether the client was closed or its connection has ended.
func (c *Client) IsStopped() bool { return c.stopped.Load() || c.conn.Err() != nil }

// over is called when the connection has ended.
func (c *Client) over(why error) {
	<-c.up
	defer close(c.ended)
	if c.o.OnStop != nil {
		c.o.OnStop(c, cause(why))
	}
	if next := c.o.Conn.OnClose; next != nil {
		next(why)
	}
}

// stray logs what could not be used.
func (c *Client) stray(s conn.Stray) {
	if c.o.Logger != nil {
		c.o.Logger.Printf("Discarding what came in: %v: %s", s.Reason, s.Frame)
	}
	if next := c.o.Conn.OnStray; next != nil {
		next(s)
	}
}
