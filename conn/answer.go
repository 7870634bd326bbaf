package conn

import (
	"context"

	"github.com/correlator-go/correlator/codec"
)

// FrameOverhead is what each frame counts for in Options.WriteBuffer, in bytes,
// beside its method and params, or its id and result: more than it needs around
// them.
const FrameOverhead = 128

// appendAnswer appends one response.
func appendAnswer(dst, rawID, result []byte, e *codec.Error) []byte {
	if e != nil {
		return codec.AppendError(dst, rawID, e)
	}
	return codec.AppendResult(dst, rawID, result)
}

// pushAnswer queues a response for which need bytes of room are held.
func (c *Conn) pushAnswer(rawID, result []byte, e *codec.Error, need int) {
	n := c.tryOpen(need)
	joins := n != nil
	if !joins {
		n = takeNode(need)
	}
	start := len(n.buf)
	n.buf = c.o.Framer.Open(n.buf)
	n.buf = appendAnswer(n.buf, rawID, result, e)
	c.seal(n, start)
	if joins {
		c.line.join(noCall, need, atOnce)
		return
	}
	n.charge, n.frames = need, 1
	c.line.push(n, atOnce)
}

// answerRequest answers from the reader, in m's array if it came in one.
func (c *Conn) answerRequest(m *codec.Message, b *batchAnswer, result []byte, e *codec.Error) {
	if b != nil {
		b.expect()
		b.add(appendAnswer(nil, m.RawID(), result, e), false)
		return
	}
	c.answerFrame(m.RawID(), result, e)
}

// answerNow answers with an error from the reader.
func (c *Conn) answerNow(rawID []byte, e *codec.Error) { c.answerFrame(rawID, nil, e) }

// answerFrame answers from the reader, which does not wait: to a peer that
// asks and asks but does not read, the answer is dropped in the end.
func (c *Conn) answerFrame(rawID, result []byte, e *codec.Error) {
	need := len(rawID) + len(result) + errorBytes(e) + FrameOverhead
	if !c.room.force(need) {
		c.counts.answersDropped.Add(1)
		return
	}
	c.pushAnswer(rawID, result, e, need)
}

// seal ends the frame that begins at start. It fails only for frames that no
// framing carries: empty ones, which are never built, and such of 4 GiB.
func (c *Conn) seal(n *node, start int) { n.buf, _ = c.o.Framer.Seal(n.buf, start) }

// waitRoom waits for need bytes of room. It gives up when ctx ends, when
// settled is closed, and when the connection ends; nil for ctx and settled never
// do. The error says which.
func (c *Conn) waitRoom(need int, ctx context.Context, settled <-chan struct{}) error {
	var done <-chan struct{}
	if ctx != nil {
		done = ctx.Done()
	}
	w := c.room.enter(need)
	var err error
	select {
	case <-w.ready:
		c.room.leave(w)
		return nil
	case <-done:
		err = context.Cause(ctx)
	case <-settled:
		err = errSettled
	case <-c.cut:
		err = c.closedError()
	}
	if c.room.leave(w) {
		c.room.release(need)
	}
	return err
}
