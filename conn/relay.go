package conn

import (
	"github.com/correlator-go/correlator/codec"
)

// Relay takes what comes in over a connection in the place of the connection's own
// routing, message by message and byte for byte. It is for programs that pass
// messages on between connections and keep the table of pending calls themselves:
// gateways. See Options.Relay.
//
// Receive, Refused, Flush and Ending are called by the connection's reader, one after the
// other; they must not block. A panic in one of them is counted and shown to
// OnPanic, and the next message is read.
type Relay interface {
	// Receive gets one message. It is borrowed until Receive returns.
	Receive(m *codec.Message)
	// Refused gets a frame that is no message: m and err are what
	// codec.Reader.ReadMessage gave, codec.ErrBatch for an array among them. Whether
	// it is answered is for the relay to say.
	Refused(m *codec.Message, err error)
	// Flush says that all was received that had come in so far, or, within a large
	// burst, that many messages were. What the relay sent as held meanwhile wants a
	// Nudge now.
	Flush()
	// Ending says that the peer has closed its side between two frames, and may still
	// read. The connection stays open until the channel is closed, for
	// Options.CloseTimeout at most; nil closes it at once.
	Ending() <-chan struct{}
	// Dispatch is asked right before the frame of a call is written, whether that
	// call is still wanted. False leaves the frame out. It is called by whoever
	// writes: it must not block, nor send anything over this connection.
	Dispatch(call int64) bool
}

// RelayFrame is one message on its way out; see Conn.SendFrame.
type RelayFrame struct {
	// Bytes is the frame, one valid JSON text, without what delimits it. It is
	// copied before SendFrame returns.
	Bytes []byte
	// Edits are made while the frame is copied, as codec.AppendSplice makes them.
	Edits []codec.Edit
	// Call is what Relay.Dispatch is asked by; 0 or negative writes the frame in any
	// case.
	Call int64
	// Held leaves the writer asleep until Nudge, or until another frame wakes it, so
	// that a burst goes out in one write. Who sends with Held must call Nudge
	// afterwards, within the same burst of its own reader.
	Held bool
}

// SendFrame queues a frame as it is but for the edits. It never waits: without room
// in the write buffer it fails with ErrFull, and then nothing was queued. Other
// errors are ErrTooLarge and, once the stream is being closed, ErrClosed: OnClose
// follows then, or has been. What one
// goroutine sends keeps its order. f is borrowed until SendFrame returns.
func (c *Conn) SendFrame(f *RelayFrame) error {
	if c.cutOff() {
		return c.closedError()
	}
	size := len(f.Bytes)
	for i := range f.Edits {
		size += len(f.Edits[i].Text)
	}
	if size > c.o.MaxFrameOut {
		return ErrTooLarge
	}
	need := size + FrameOverhead
	if !c.room.try(need) {
		return ErrFull
	}
	u, call := atOnce, f.Call
	if f.Held {
		u = held
	}
	if call <= 0 {
		call = noCall
	}
	if n := c.tryOpen(need); n != nil {
		buf, err := c.appendFrame(n.buf, f)
		n.buf = buf
		if err != nil {
			c.line.leave()
			c.room.release(need)
			return err
		}
		c.line.join(call, need, u)
		return nil
	}
	n := takeNode(need)
	buf, err := c.appendFrame(n.buf, f)
	if err != nil {
		putNode(n)
		c.room.release(need)
		return err
	}
	n.buf, n.charge, n.call = buf, need, call
	if call == noCall {
		n.frames = 1
	}
	c.line.push(n, u)
	return nil
}

// appendFrame appends one framed message; on an error dst comes back as it was.
func (c *Conn) appendFrame(dst []byte, f *RelayFrame) ([]byte, error) {
	start := len(dst)
	buf := c.o.Framer.Open(dst)
	buf = codec.AppendSplice(buf, f.Bytes, f.Edits...)
	buf, err := c.o.Framer.Seal(buf, start)
	if err != nil {
		return dst, err
	}
	return buf, nil
}

// SendCancel tells the peer that a call is over, in the words of the profile; plain
// JSON-RPC has none. Cancels wait as ids, so that any number can be sent: SendCancel
// neither waits nor fails. expired chooses the reason that is named. The call's
// frame must have been dispatched, which keeps the cancel behind it on the wire.
func (c *Conn) SendCancel(call int64, expired bool) {
	if c.o.Profile == codec.JSONRPC || c.closing.Load() {
		return
	}
	reason := reasonCancelled
	if expired {
		reason = reasonTimeout
	}
	c.cancels.add(call, reason)
}

// Nudge wakes the writer if there is anything to write.
func (c *Conn) Nudge() { c.line.nudge() }

// Queued is how many bytes of Options.WriteBuffer are in use.
func (c *Conn) Queued() int64 { return c.room.taken.Load() }

// relayIdle gives a channel that is closed when the relay has nothing more to send.
func (c *Conn) relayIdle() <-chan struct{} {
	var idle <-chan struct{}
	c.guard(func() { idle = c.o.Relay.Ending() })
	if idle == nil {
		return closedChannel
	}
	return idle
}

var closedChannel = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// relayed hands one frame to the relay.
func (c *Conn) relayed(m *codec.Message, err error) {
	c.guard(func() {
		if err != nil {
			c.o.Relay.Refused(m, err)
			return
		}
		c.o.Relay.Receive(m)
	})
}

// dispatcher is what the writer asks about the frame of a call.
func (c *Conn) dispatcher() func(codec.ID) bool {
	if c.o.Relay == nil {
		return c.engine.Dispatch
	}
	return func(id codec.ID) bool {
		call, _ := id.Int()
		return c.o.Relay.Dispatch(call)
	}
}
