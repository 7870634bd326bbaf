package serve

import (
	"context"
	"time"

	"github.com/correlator-go/correlator/mcp"
)

// Close ends the connection: every handler is cancelled, nothing is taken any
// more, and nothing is written for what was pending. It may be called again.
func (c *Connection) Close() {
	c.mu.Lock()
	if c.closed {
		c.unlock()
		return
	}
	c.closed, c.closing = true, true
	for id := range c.exchanges {
		c.step(mcp.ExchangeClosed{Exchange: id})
	}
	c.due.stop()
	c.crew.close()
	close(c.done)
	c.unlock()
	c.asks.fail(ErrStopped)
	c.server.forget(c)
	go c.out.ended()
}

// Stop is Close, and waits for the handlers that were cancelled, for their grace
// and five seconds more at most, or until ctx ends. The error is then that of the
// wait.
func (c *Connection) Stop(ctx context.Context) error {
	c.Close()
	still := c.stillness()
	timer := time.NewTimer(max(c.o.Grace, 0) + stopSlack)
	defer timer.Stop()
	select {
	case <-still:
		return nil
	case <-timer.C:
		return context.DeadlineExceeded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// stopSlack is what Stop waits beyond the grace.
const stopSlack = 5 * time.Second

// stillness gives a channel that is closed when no cancelled handler works.
func (c *Connection) stillness() <-chan struct{} {
	c.mu.Lock()
	defer c.unlock()
	if c.limbo == 0 {
		done := make(chan struct{})
		close(done)
		return done
	}
	if c.still == nil {
		c.still = make(chan struct{})
	}
	return c.still
}

// Drain refuses requests from now on, ends the subscriptions with their results,
// and waits until what is live was answered, or until ctx ends, whose cause it
// then returns.
func (c *Connection) Drain(ctx context.Context) error {
	c.mu.Lock()
	c.closing = true
	c.step(mcp.EndStreams{})
	c.unlock()
	return c.settled(ctx)
}

// settled waits until every request was answered.
func (c *Connection) settled(ctx context.Context) error {
	c.mu.Lock()
	if c.busyLocked() == 0 || c.closed {
		c.unlock()
		return nil
	}
	if c.idle == nil {
		c.idle = make(chan struct{})
	}
	idle := c.idle
	c.unlock()
	select {
	case <-idle:
		return nil
	case <-c.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Live is how many requests are live: not answered, or subscribed.
func (c *Connection) Live() int { return int(c.live.Load()) }

// register and unregister change the tools that this connection serves.
func (c *Connection) register(t mcp.ServerTool) {
	c.mu.Lock()
	defer c.unlock()
	if !c.closed {
		c.step(mcp.RegisterTool{Tool: t})
	}
}

func (c *Connection) unregister(name string) {
	c.mu.Lock()
	defer c.unlock()
	if !c.closed {
		c.step(mcp.UnregisterTool{Name: name})
	}
}

func (c *Connection) endStreams() {
	c.mu.Lock()
	defer c.unlock()
	if !c.closed {
		c.step(mcp.EndStreams{})
	}
}
