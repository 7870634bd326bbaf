package client

import (
	"context"
	"sync"
	"time"

	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/mcp"
)

// Client is a client connected to one server. Its methods are safe for concurrent
// use.
type Client struct {
	o         Options
	transport Transport

	// mu guards agreement: what was agreed on when the session began.
	mu        sync.RWMutex
	agreement agreement
	link      link // set by Connect, never changed

	subscriptions subscriptions
	// tools are the input schemas of tools that were listed, for the headers that
	// repeat arguments.
	tools toolSchemas
}

// agreement is what client and server agreed on.
type agreement struct {
	revision     mcp.Revision
	info         mcp.Implementation
	capabilities mcp.ServerCapabilities
	instructions string
	// members are those of _meta that every request carries; nil in the older era.
	members []byte
}

// Connect opens the way to a server and finds out what it speaks: see the
// package's text. ctx bounds Connect alone; Close ends the client.
//
// Its errors are those of the transport (*conn.SpawnError, *conn.PeerGone, a
// *net.OpError, *HTTPError), those of a call, *UnsupportedVersion, and
// *OptionError for options that mean nothing. Nothing is left open then.
func Connect(ctx context.Context, t Transport, o Options) (*Client, error) {
	if err := o.refuse(); err != nil {
		return nil, err
	}
	c := &Client{o: o.withDefaults(), transport: t}
	l, err := t.open(ctx, c)
	if err != nil {
		return nil, err
	}
	if c.link, err = c.agree(ctx, l); err != nil {
		_ = c.link.close() // the error that is told is the first
		return nil, err
	}
	return c, nil
}

// Close ends the client: its calls and subscriptions, the connection or the HTTP
// session, and the child process that Connect started. It may be called again.
func (c *Client) Close() error { return c.link.close() }

// Done is closed when the way to the server has ended, by Close or by itself. An
// HTTP endpoint ends by Close alone.
func (c *Client) Done() <-chan struct{} { return c.link.done() }

// Err is nil while the way to the server is open, then why it ended.
func (c *Client) Err() error { return c.link.err() }

// Revision is the revision agreed on.
func (c *Client) Revision() mcp.Revision { return c.agreed().revision }

// ServerInfo is what the server calls itself. Nothing is to be decided by it.
func (c *Client) ServerInfo() mcp.Implementation { return c.agreed().info }

// Capabilities is what the server declared.
func (c *Client) Capabilities() mcp.ServerCapabilities { return c.agreed().capabilities }

// Instructions tell a model how to use the server; "" when there are none.
func (c *Client) Instructions() string { return c.agreed().instructions }

func (c *Client) agreed() agreement {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.agreement
}

func (c *Client) setAgreement(a agreement) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.agreement = a
}

// timeout is the total time that o asks for; negative is none.
func (c *Client) timeout(o CallOptions) time.Duration {
	if o.Timeout != 0 {
		return o.Timeout
	}
	return c.o.Timeout
}

func (c *Client) clock() engine.Clock {
	if c.o.Conn.Clock != nil {
		return c.o.Conn.Clock
	}
	return engine.SystemClock()
}
