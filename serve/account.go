package serve

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// account is what an observer is told of an exchange when that has ended. There is
// one for each exchange while there is an observer, and none otherwise: its methods
// do nothing on nil. conn.mu guards it.
type account struct {
	began        time.Time
	frame        []byte     // borrowed: nil when the reducer has been through with it
	params       codec.Span // in frame
	method, tool string
	invocation   mcp.InvocationID
	status       mcp.Status
	reason       string
	code         int
}

// sessionEnded tells of the end of what c was to its peer.
func (c *Connection) sessionEnded(began time.Time, err error) {
	if !c.observed() {
		return
	}
	reason := "failed"
	switch {
	case err == nil:
		reason = "closed"
	case errors.Is(err, ErrStopped), errors.Is(err, context.Canceled):
		reason = "stopped"
	}
	c.mu.Lock()
	defer c.unlock()
	c.event(Event{Kind: SessionEnded, Duration: time.Since(began), Reason: reason})
}

// account is that of an exchange that is not over; nil when there is none.
func (c *Connection) account(id mcp.ExchangeID) *account {
	if !c.observed() {
		return nil
	}
	if x, ok := c.exchanges[id]; ok {
		return x.account
	}
	if c.entering != nil && c.entering.exchange == id {
		return c.entering.account
	}
	return nil
}

// account begins that of a frame.
func (d *delivery) account(now time.Time) *account {
	a := &account{began: now}
	e := d.envelope
	if e == nil || e.Kind != codec.KindRequest && e.Kind != codec.KindNotification {
		return a
	}
	a.frame, a.params = d.frame, e.Params
	a.method = methodOf(e.Method.Of(d.frame))
	return a
}

// methodOf makes a string of a method, without allocating for the usual ones.
func methodOf(name []byte) string {
	switch string(name) {
	case mcp.MethodCallTool:
		return mcp.MethodCallTool
	case mcp.MethodListTools:
		return mcp.MethodListTools
	case mcp.MethodReadResource:
		return mcp.MethodReadResource
	case mcp.MethodGetPrompt:
		return mcp.MethodGetPrompt
	case mcp.NoteCancelled:
		return mcp.NoteCancelled
	}
	if len(name) > MethodBytes {
		return ""
	}
	return string(name)
}

// ran notes that a handler is to run.
func (a *account) ran(r *run) {
	a.invocation, a.tool = r.inv.ID(), r.inv.Tool()
}

// came notes how a handler ended.
func (a *account) came(status mcp.Status, reason string) {
	if a != nil {
		a.status, a.reason = status, reason
	}
}

// ended is the event about the end of e's exchange.
func (a *account) ended(e *mcp.Effect) Event {
	v := Event{Kind: ExchangeEnded, Exchange: e.Exchange, Correlation: e.Correlation}
	if a == nil {
		return v
	}
	v.Method, v.Tool, v.Invocation = a.method, a.tool, a.invocation
	v.Status, v.Reason, v.Code, v.Duration = a.status, a.reason, a.code, time.Since(a.began)
	if a.invocation == 0 {
		v.Trace = a.trace()
	}
	return v
}

// trace reads the trace context of a frame that is still there.
func (a *account) trace() mcp.Trace {
	params := a.params.Of(a.frame)
	if a.frame == nil || !bytes.Contains(params, []byte(mcp.MetaTraceParent)) {
		return mcp.Trace{}
	}
	var p struct {
		Meta struct {
			Parent string `json:"traceparent"`
			State  string `json:"tracestate"`
		} `json:"_meta"`
	}
	if codec.DecodeValue(params, &p) != nil {
		return mcp.Trace{}
	}
	return mcp.Trace{Parent: p.Meta.Parent, State: p.Meta.State}
}
