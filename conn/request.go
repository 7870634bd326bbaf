package conn

import (
	"github.com/correlator-go/correlator/codec"
)

// requested takes a request from the peer. b is the array that it came in.
func (c *Conn) requested(m *codec.Message, b *batchAnswer) {
	if c.o.Profile == codec.MCP && !c.o.PassPing && string(m.Method()) == "ping" {
		if c.serving.has(m.ID()) {
			c.duplicate(m)
			return
		}
		c.counts.requests.Add(1)
		c.answerRequest(m, b, []byte("{}"), nil)
		return
	}
	if c.o.Handler == nil {
		c.counts.requests.Add(1)
		c.answerRequest(m, b, nil, &codec.Error{Code: codec.CodeMethodNotFound, Message: "method not found"})
		return
	}
	if c.draining.Load() {
		c.answerRequest(m, b, nil, internalError("shutting down"))
		return
	}
	r := c.inbound(m)
	r.id, r.batch = m.ID(), b
	r.holds.Store(2)
	switch c.serving.admit(r) {
	case admissionDuplicate:
		c.duplicate(m)
		return
	case admissionFull:
		c.counts.overloaded.Add(1)
		c.answerRequest(m, b, nil, internalError("overloaded"))
		return
	}
	if b != nil {
		b.expect()
	}
	c.counts.requests.Add(1)
	if c.o.Inline {
		c.handle(r)
		return
	}
	r.message = m.Detach()
	c.requests.put(r) // what admit lets in, the lane takes
}

// inbound makes what the handler gets of m, which it borrows.
func (c *Conn) inbound(m *codec.Message) *Inbound {
	r := &Inbound{conn: c, message: *m, method: string(m.Method()), size: len(m.Frame())}
	r.ctx = &requestContext{conn: c}
	return r
}

// duplicate drops a request whose id is in flight: an answer to it would end
// the first one at the peer.
func (c *Conn) duplicate(m *codec.Message) {
	c.counts.duplicates.Add(1)
	c.stray(StrayDuplicate, m.Frame(), len(m.Frame()), nil)
}

// handle runs the handler on r, in the lane or on the reader.
func (c *Conn) handle(r *Inbound) {
	defer r.handled()                     // also when the handler ends the goroutine
	if r.state.Load() == inboundPending { // else cancelled while it was queued
		c.guard(func() { c.o.Handler.Handle(r.ctx, r) })
	}
}

// notified takes a notification from the peer. Some are the connection's own:
// cancels, progress, and those of a subscription.
func (c *Conn) notified(m *codec.Message, b *batchAnswer) {
	method := m.Method() // decoded: PHP writes notifications\/cancelled
	switch {
	case m.Flags.Has(codec.FlagNullID) && c.refuseNullID(m, b, method):
		return
	case c.o.Profile == codec.MCP && string(method) == methodCancelled, c.o.Profile == codec.LSP && string(method) == methodCancelLSP:
		c.cancelled(m)
		return
	case c.o.Profile == codec.MCP && string(method) == methodProgress:
		c.progressed(m)
		return
	case m.Envelope.Subscription.Present() && c.published(m):
		return
	}
	c.counts.notifications.Add(1)
	if c.o.Handler == nil || c.draining.Load() {
		return
	}
	r := c.inbound(m)
	r.holds.Store(1)
	if c.o.Inline {
		c.handle(r)
		return
	}
	r.message = m.Detach()
	if !c.notes.put(r) {
		c.counts.overloaded.Add(1)
		c.stray(StrayNotification, m.Frame(), len(m.Frame()), nil)
	}
}

const (
	methodInitialize = "initialize"
	methodProgress   = "notifications/progress"
	methodCancelled  = "notifications/cancelled"
	methodCancelLSP  = "$/cancelRequest"
)

// refuseNullID answers an MCP request with a null id, which the codec takes for
// a notification as a client must. So a side that serves requests answers,
// unless the method names a notification.
func (c *Conn) refuseNullID(m *codec.Message, b *batchAnswer, method []byte) bool {
	const prefix = "notifications/"
	if c.o.Handler == nil || len(method) > len(prefix) && string(method[:len(prefix)]) == prefix {
		return false
	}
	c.counts.nullIDs.Add(1)
	c.stray(StrayNullID, m.Frame(), len(m.Frame()), nil)
	c.answerRequest(m, b, nil, &codec.Error{Code: codec.CodeInvalidRequest, Message: "invalid request: null id"})
	return true
}

// cancelled ends the request that the peer no longer wants, ahead of whatever is
// queued. A cancel may also name a call of ours: so a server ends a subscription.
func (c *Conn) cancelled(m *codec.Message) {
	id, err := codec.ParseID(m.RequestID(), c.o.Profile)
	if err != nil || id.Kind() < codec.IDInt {
		c.counts.cancelsUnknown.Add(1)
		return
	}
	c.counts.cancelsIn.Add(1)
	if r := c.serving.find(id); r != nil {
		r.cancel()
		return
	}
	if key, ok := id.Int(); ok {
		if f, _ := c.feeds.find(key); f != nil && f.notes != nil {
			c.engine.Reject(id, ErrSubscriptionEnded)
			return
		}
	}
	c.counts.cancelsUnknown.Add(1)
}

// progressed takes progress to its call, whose token is the call's own id.
func (c *Conn) progressed(m *codec.Message) {
	token, err := codec.ParseID(m.Progress(), c.o.Profile)
	if c.o.MatchText && token.Kind() == codec.IDString {
		if id, err := codec.ParseID([]byte(token.Text()), c.o.Profile); err == nil {
			token = id
		}
	}
	key, ok := token.Int()
	if err != nil || !ok {
		c.unknownProgress(m)
		return
	}
	alive := c.engine.Touch(token)
	f, late := c.feeds.find(key)
	switch {
	case f != nil && f.progress != nil:
		switch f.offerProgress(m.Params()) {
		case feedCoalesced:
			c.counts.progressCoalesced.Add(1)
		case feedOver:
			c.counts.progressLate.Add(1)
		}
	case late:
		c.counts.progressLate.Add(1)
	case !alive:
		c.unknownProgress(m)
	}
}

func (c *Conn) unknownProgress(m *codec.Message) {
	c.counts.progressUnknown.Add(1)
	c.stray(StrayProgress, m.Frame(), len(m.Frame()), nil)
}

// published takes a notification to the subscription that it names; false says
// that no call of ours subscribed under that id.
func (c *Conn) published(m *codec.Message) bool {
	id, err := codec.ParseID(m.Subscription(), c.o.Profile)
	if err != nil {
		return false
	}
	key, ok := id.Int()
	if !ok {
		return false
	}
	f, late := c.feeds.find(key)
	switch {
	case f != nil && f.notes != nil:
		c.engine.Touch(id)
		switch f.offerNote(m.Method(), m.Params()) {
		case feedDropped, feedOver:
			c.counts.notesDropped.Add(1)
		case feedTooSlow:
			c.counts.notesDropped.Add(1)
			c.engine.Cancel(id, ErrSlowSubscriber)
		}
		return true
	case late:
		c.counts.notesDropped.Add(1)
		return true
	}
	return false
}
