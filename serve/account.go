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
	method       string
	tool, prompt string
	id           codec.ID
	revision     mcp.Revision
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
	if len(d.ids) == 1 {
		a.id = d.ids[0]
	}
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
	a.invocation, a.tool, a.prompt, a.revision = r.inv.ID(), r.inv.Tool(), r.inv.Prompt(), r.inv.Revision()
}

// came notes how a handler ended.
func (a *account) came(status mcp.Status, reason string) {
	if a != nil {
		a.status, a.reason = status, reason
	}
}

// ended is the event about the end of e's exchange. session is the revision of the
// older era that the connection has agreed on, if it has.
func (a *account) ended(e *mcp.Effect, session mcp.Revision) Event {
	v := Event{Kind: ExchangeEnded, Exchange: e.Exchange, Correlation: e.Correlation}
	if a == nil {
		return v
	}
	v.Method, v.Tool, v.Prompt, v.Invocation, v.ID, v.Revision = a.method, a.tool, a.prompt, a.invocation, a.id, a.revision
	v.Status, v.Reason, v.Code, v.Duration = a.status, a.reason, a.code, time.Since(a.began)
	if a.invocation == 0 && a.frame != nil {
		a.read(&v, session)
	}
	return v
}

// read reads what the frame, which is still there, says of a request that no handler
// ran for.
func (a *account) read(v *Event, session mcp.Revision) {
	params := a.params.Of(a.frame)
	v.Revision = session
	if bytes.Contains(params, []byte(mcp.MetaProtocolVersion)) {
		v.Revision = mcp.Modern
	}
	if !bytes.Contains(params, []byte(mcp.MetaTraceParent)) {
		return
	}
	var p struct {
		Meta struct {
			Parent string `json:"traceparent"`
			State  string `json:"tracestate"`
		} `json:"_meta"`
	}
	if codec.DecodeValue(params, &p) == nil {
		v.Trace = mcp.Trace{Parent: p.Meta.Parent, State: p.Meta.State}
	}
}
