package client

import (
	"bytes"
	"context"
	"strconv"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// CallEvent tells of one request that was answered or failed, for metrics. A call
// that the server asks for input is one request for each round.
type CallEvent struct {
	// Client is Options.Label.
	Client string
	// Method is the request's; Tool the name of the tool, for tools/call alone. Name
	// is what the request is about: the name of a tool or prompt, the URI of a
	// resource, "" for any other.
	Method, Tool, Name string
	// ID is the request's id on the wire; absent when it was refused before it had
	// one.
	ID codec.ID
	// Revision is what was agreed on; "" before that. Session is the id of the HTTP
	// session that the request was sent in, "" without one.
	Revision mcp.Revision
	Session  string
	// Outcome is what became of it.
	Outcome CallOutcome
	// Err is why there is no valid result: what the call returns, or will be made of;
	// nil unless Outcome is CallFailed.
	Err error
	// Duration is the time from the request to its end.
	Duration time.Duration
}

// CallOutcome is what became of a request.
type CallOutcome uint8

// The outcomes.
const (
	// CallCompleted: there is a result.
	CallCompleted CallOutcome = iota + 1
	// CallToolFailed: there is a result, which says that the tool failed.
	CallToolFailed
	// CallInputRequired: a modern server asks for input first. One of the older
	// era asks by requests of its own, which end nothing.
	CallInputRequired
	// CallFailed: the server sent an error or an invalid result, or there is no
	// answer.
	CallFailed
)

// String is a word, fit for a label: "completed", "tool_failed", "input_required"
// or "failed".
func (o CallOutcome) String() string {
	switch o {
	case CallCompleted:
		return "completed"
	case CallToolFailed:
		return "tool_failed"
	case CallInputRequired:
		return "input_required"
	case CallFailed:
		return "failed"
	}
	return "CallOutcome(" + strconv.Itoa(int(o)) + ")"
}

// send sends a request of a call, and tells the observer of its end.
func (c *Client) send(ctx context.Context, r *request) ([]byte, error) {
	if c.o.Observer == nil {
		return c.follow(ctx, c.link, r)
	}
	r.seen = true
	return c.follow(ctx, c.link, r)
}

// follow sends a request over l, and lets those who watch see it.
func (c *Client) follow(ctx context.Context, l link, r *request) ([]byte, error) {
	r.looked = false
	t := c.o.Tracer
	if t == nil && !r.seen {
		text, err := l.call(ctx, r)
		return text, ofMCP(err)
	}
	e := CallEvent{Client: c.o.Label, Method: r.method, Name: r.name(), Outcome: CallFailed, Revision: c.agreed().revision}
	if r.method == mcp.MethodCallTool {
		e.Tool = e.Name
	}
	clock := c.clock()
	began := clock.Now()
	if t != nil {
		ctx = begin(ctx, t, &e)
		bag := carriers.Get().(*Carrier)
		defer bag.free()
		plain := r.params
		defer func() { r.params = plain }() // a further round begins with it
		r.params = bag.fill(ctx, t, plain)
	}
	r.id = codec.ID{} // of the round before
	text, err := l.call(ctx, r)
	err = ofMCP(err)
	e.Duration, e.ID, e.Session, e.Err = clock.Now()-began, r.id, l.sessionID(), err
	if err == nil {
		e.Outcome, e.Err = c.outcome(r, text)
	}
	if t != nil {
		end(ctx, t, &e)
	}
	if r.seen {
		c.tell(e)
	}
	return text, err
}

// outcome reads what a result says.
func (c *Client) outcome(r *request, text []byte) (CallOutcome, error) {
	if c.agreed().revision.IsModern() {
		switch asks, err := r.look(text); {
		case err != nil:
			return CallFailed, err
		case asks != nil:
			return CallInputRequired, nil
		}
	}
	// Most results do not have it.
	if r.method == mcp.MethodCallTool && (len(text) == 0 || text[0] != '{' || bytes.Contains(text, []byte("isError")) || bytes.Contains(text, []byte(`\u`))) {
		var result struct {
			IsError bool `json:"isError"`
		}
		switch err := decode(r.method, text, &result); {
		case err != nil:
			return CallFailed, err
		case result.IsError:
			return CallToolFailed, nil
		}
	}
	return CallCompleted, nil
}

// tell shows an event to the observer; what that does wrong harms no call.
func (c *Client) tell(e CallEvent) {
	defer func() { _ = recover() }()
	c.o.Observer(e)
}
