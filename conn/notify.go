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
		return unsent(method, ErrFull)
	}
	return c.pushNotification(method, params, need)
}

func (c *Conn) pushNotification(method string, params []byte, need int) error {
	n := takeNode(need)
	n.charge = need
	n.frames = 1
	n.buf = c.o.Framer.Open(n.buf)
	n.buf = codec.AppendNotification(n.buf, method, params)
	buf, err := c.o.Framer.Seal(n.buf, 0)
	if err != nil {
		putNode(n)
		c.room.release(need)
		return unsent(method, err)
	}
	n.buf = buf
	c.line.push(n)
	return nil
}

// Flush waits until everything that was queued before it has been written to
// the stream, or ctx or the connection ends.
func (c *Conn) Flush(ctx context.Context) error {
	n := takeNode(0)
	n.flushed = make(chan struct{})
	flushed := n.flushed
	c.line.push(n)
	select {
	case <-flushed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.cut:
		return c.closedError()
	}
}
