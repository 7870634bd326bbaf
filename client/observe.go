package client

import (
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
	// Method is the request's; Tool the name of the tool, for tools/call alone.
	Method, Tool string
	// Outcome is what became of it.
	Outcome CallOutcome
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
		return c.link.call(ctx, r)
	}
	clock := c.clock()
	began := clock.Now()
	text, err := c.link.call(ctx, r)
	e := CallEvent{Client: c.o.Label, Method: r.method, Outcome: CallFailed, Duration: clock.Now() - began}
	if r.method == mcp.MethodCallTool {
		var p struct {
			Name string `json:"name"`
		}
		if codec.DecodeValue(r.params, &p) == nil {
			e.Tool = p.Name
		}
	}
	if err == nil {
		e.Outcome = c.outcome(r.method, text)
	}
	c.tell(e)
	return text, err
}

// outcome reads what a result says.
func (c *Client) outcome(method string, text []byte) CallOutcome {
	if c.agreed().revision.IsModern() {
		switch asks, err := readRound(method, text); {
		case err != nil:
			return CallFailed
		case asks != nil:
			return CallInputRequired
		}
	}
	if method == mcp.MethodCallTool {
		var r struct {
			IsError bool `json:"isError"`
		}
		switch err := decode(method, text, &r); {
		case err != nil:
			return CallFailed
		case r.IsError:
			return CallToolFailed
		}
	}
	return CallCompleted
}

// tell shows an event to the observer; what that does wrong harms no call.
func (c *Client) tell(e CallEvent) {
	defer func() { _ = recover() }()
	c.o.Observer(e)
}
