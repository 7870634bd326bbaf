package serve

import (
	"errors"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// delivery is a frame on its way to the reducer.
type delivery struct {
	exchange    mcp.ExchangeID
	frame       []byte          // borrowed
	envelope    *codec.Envelope // nil if the scan failed, or for a batch
	ids         []codec.ID      // of the requests in it, which must not be in flight
	caller      mcp.Caller
	correlation string
	headers     *mcp.Headers
	repeats     bool // two requests in it have one id
}

// isCancel reports whether d is a cancellation that stands alone.
func (d *delivery) isCancel() bool {
	e := d.envelope
	return e != nil && e.Kind == codec.KindNotification && string(e.Method.Of(d.frame)) == mcp.NoteCancelled
}

// receive gives a frame to the reducer, unless a limit refuses it; then nothing
// was written, and the error says which: ErrStopped, ErrTooManyLive,
// ErrDuplicateID. The other limits are judged by whoever reads.
func (c *Connection) receive(d *delivery) error {
	requests := d.envelope == nil || d.envelope.Kind == codec.KindRequest
	c.mu.Lock()
	if err := c.refusal(d, requests); err != nil {
		if limit, ok := errors.AsType[*LimitError](err); ok {
			c.rejected(d.exchange, limit)
		}
		c.unlock()
		return err
	}
	e := entry{exchange: d.exchange, ids: d.ids, batch: d.envelope == nil}
	c.entering, c.now = &e, time.Now()
	if c.observed() {
		e.account = d.account(c.now)
	}
	c.step(mcp.Received{
		Exchange: d.exchange, Frame: d.frame, Envelope: d.envelope, Caller: d.caller,
		Correlation: d.correlation, Headers: d.headers, At: c.now.UnixMilli(),
	})
	switch {
	case e.broken:
		c.answerBroken(d)
	case e.written && !e.closed:
		c.keep(d.exchange) // a subscription
	case !e.hit && d.isCancel():
		c.server.counts.unmatched.Add(1)
	}
	if e.account != nil {
		e.account.frame = nil // it was borrowed
	}
	c.entering = nil
	c.unlock()
	return nil
}

func (c *Connection) refusal(d *delivery, requests bool) error {
	switch {
	case c.closed:
		return ErrStopped
	case !requests:
		return nil
	case c.closing:
		return ErrStopped
	case d.repeats:
		return ErrDuplicateID
	}
	for _, id := range d.ids {
		if _, ok := c.inFlight[id]; ok {
			return ErrDuplicateID
		}
	}
	if len(c.exchanges) >= c.o.MaxLive {
		return &LimitError{Err: ErrTooManyLive, Have: len(c.exchanges), Limit: c.o.MaxLive}
	}
	return nil
}

// answerBroken answers a request whose step panicked. c.mu is held.
func (c *Connection) answerBroken(d *delivery) {
	frame := codec.AppendError(nil, d.ids[0].Append(nil), &codec.Error{Code: codec.CodeInternal, Message: "internal error"})
	c.carryOut(&mcp.Effect{Kind: mcp.Write, Exchange: d.exchange, Frame: frame, Final: true, Code: codec.CodeInternal})
	c.carryOut(&mcp.Effect{Kind: mcp.Close, Exchange: d.exchange})
}

// rejected notes that a limit refused a frame.
func (c *Connection) rejected(x mcp.ExchangeID, e *LimitError) {
	c.server.counts.rejected.Add(1)
	if !c.observed() {
		return
	}
	problem := ProblemTooLarge
	switch {
	case errors.Is(e, ErrTooManyLive):
		problem = ProblemTooMany
	case errors.Is(e, ErrFrameTooDeep):
		problem = ProblemTooDeep
	}
	c.event(Event{Kind: FrameRejected, Exchange: x, Problem: problem})
}

// closeExchange says that a peer or its stream went.
func (c *Connection) closeExchange(x mcp.ExchangeID) {
	c.mu.Lock()
	defer c.unlock()
	c.step(mcp.ExchangeClosed{Exchange: x})
}
