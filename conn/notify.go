package conn

import (
	"context"

	"github.com/correlator-go/correlator/codec"
)

// Notify queues a notification, which no peer answers. params are copied. It
// waits for room in the write buffer until ctx ends; callbacks, which must not
// wait, use TryNotify. The error is ErrClosed, ErrDraining, ErrTooLarge or the
// cause of ctx's end.
func (c *Conn) Notify(ctx context.Context, method string, params []byte) error {
	need, err := c.need(ctx, method, params)
	if err != nil {
		return err
	}
	if !c.room.try(need) {
		if err := c.waitRoom(need, ctx, nil); err != nil {
			return unsent(method, err)
		}
	}
	return c.pushNotification(method, params, need)
}

// TryNotify is Notify that never waits: without room it fails with ErrFull.
func (c *Conn) TryNotify(method string, params []byte) error {
	need, err := c.need(background, method, params)
	if err != nil {
		return err
	}
	if !c.room.try(need) {
		return unsent(method, bufferFull)
	}
	return c.pushNotification(method, params, need)
}

func (c *Conn) pushNotification(method string, params []byte, need int) error {
	n := c.tryOpen(need)
	joins := n != nil
	if !joins {
		n = takeNode(need)
	}
	start := len(n.buf)
	buf := c.o.Framer.Open(n.buf)
	buf = codec.AppendNotification(buf, method, params)
	buf, err := c.o.Framer.Seal(buf, start)
	switch {
	case err == nil && joins:
		n.buf = buf
		c.line.join(noCall, need, atOnce)
		return nil
	case err == nil:
		n.buf, n.charge, n.frames = buf, need, 1
		c.line.push(n, atOnce)
		return nil
	case joins:
		c.line.leave()
	default:
		putNode(n)
	}
	c.room.release(need)
	return unsent(method, err)
}

// whenWritten gives a channel that is closed when everything that is queued has been
// written.
func (c *Conn) whenWritten() <-chan struct{} {
	n := takeNode(0)
	flushed := make(chan struct{})
	n.flushed = flushed
	c.line.push(n, atOnce) // from here on n is the writer's
	return flushed
}

// Flush waits until everything that was queued before it has been written to
// the stream, or ctx or the connection ends.
func (c *Conn) Flush(ctx context.Context) error {
	select {
	case <-c.whenWritten():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.cut:
		return c.closedError()
	}
}
