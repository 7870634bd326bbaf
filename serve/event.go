package serve

import (
	"strconv"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// EventKind says what happened.
type EventKind uint8

// The kinds of event, and which fields of Event they use beside Kind and
// Listener.
const (
	// FrameRejected: a limit refused a frame. Exchange, Problem.
	FrameRejected EventKind = iota + 1
	// RequestAdmitted: a request was taken. Exchange, Method, Correlation.
	RequestAdmitted
	// InvocationStarted: a handler is about to run. Exchange, Invocation, Method,
	// Tool, Prompt, Revision, Correlation.
	InvocationStarted
	// InvocationCompleted: a handler returned in time. As InvocationStarted, and
	// Status, Duration.
	InvocationCompleted
	// InvocationCancelled: nobody waits for a handler any more. As
	// InvocationStarted.
	InvocationCancelled
	// InvocationCrashed: a handler panicked or took too long. As
	// InvocationStarted, and Reason. A timeout is this and no cancellation.
	InvocationCrashed
	// ExchangeEnded: nothing follows on an exchange. Exchange, Correlation, Duration;
	// Method, ID and Revision where it was one request or notification, refused ones
	// too, and Code where that was answered with an error. If a handler ran, also the
	// last one's Invocation, Tool and Prompt, and how it ended: Status, or as the
	// Reason "cancelled", "crashed" or "timed_out". If none ran, Trace.
	ExchangeEnded
	// SessionEnded: a stream's connection ended, or a session of HTTP's older era.
	// Duration, and as the Reason "closed" (by the peer, or as the protocol wants
	// it), "stopped" (by this side) or "failed".
	SessionEnded
	// HTTPRejected: an HTTP request was refused before it was a message. Code,
	// Reason.
	HTTPRejected
	// AuthorizationDecided: HTTPOptions.Authorize was asked. Verifier, and as the
	// Reason "allowed" or "denied".
	AuthorizationDecided
)

var eventNames = [...]string{
	"none", "frame.rejected", "request.admitted", "invocation.started", "invocation.completed", "invocation.cancelled",
	"invocation.crashed", "exchange.closed", "session.ended", "http.rejected", "authorization.decided",
}

// String is the event's name, such as "frame.rejected".
func (k EventKind) String() string {
	if int(k) < len(eventNames) {
		return eventNames[k]
	}
	return "EventKind(" + strconv.Itoa(int(k)) + ")"
}

// The values of Event.Problem.
const (
	ProblemTooLarge      = "frame_too_large"
	ProblemTooMany       = "too_many_exchanges"
	ProblemTooDeep       = "nesting_too_deep"
	ProblemTrailingBytes = "trailing_bytes" // the stream ended inside a frame
)

// Event is one thing that happened, for metrics and traces. Correlation is for
// finding the traces of one request, and no label for a metric.
type Event struct {
	// Kind says what happened, and which fields are set.
	Kind EventKind
	// Listener is Options.Listener.
	Listener string
	// Exchange and Invocation name the request and its handler in this process.
	Exchange   mcp.ExchangeID
	Invocation mcp.InvocationID
	// Method is the request's; Tool the name of the tool, for tools/call alone. The
	// method of a request that was refused is the peer's word, of at most
	// MethodBytes; a longer one is left out.
	Method, Tool string
	// Prompt is the name of the prompt, for prompts/get alone.
	Prompt string
	// ID is the peer's id of the request, for the end of an exchange alone.
	ID codec.ID
	// Revision is the request's; of one that no handler ran for, as far as it is
	// known.
	Revision mcp.Revision
	// Correlation is the value by which the request's traces are found.
	Correlation mcp.Correlation
	// Verifier is HTTPOptions.Verifier.
	Verifier string
	// Problem, Status and Reason are words from small sets, fit for labels.
	Problem string
	Status  mcp.Status
	Reason  string
	// Code is the status of an HTTP response; of an exchange it is the code of the
	// JSON-RPC error that was its answer.
	Code int
	// Duration is how long a handler ran or a session lasted; of an exchange, the
	// time from when its frame was taken.
	Duration time.Duration
	// Trace is what stands as trace context in the _meta of a request that no handler
	// ran for, unchecked; a request with one has Invocation.Trace.
	Trace mcp.Trace
}

// MethodBytes is the longest method in an Event.
const MethodBytes = 128

// StrayReason says why something that came in could not be used.
type StrayReason uint8

// The reasons.
const (
	StrayUnreadable  StrayReason = iota + 1 // no JSON, or no message with an id that can be answered
	StrayTooLarge                           // above MaxFrame
	StrayTooDeep                            // above MaxDepth
	StrayTrailing                           // the stream ended inside it
	StrayDuplicate                          // a request whose id is in flight
	StrayLate                               // an answer to nothing that waits
	StrayUnsupported                        // an array, where there are no batches
)

// String names the reason.
func (r StrayReason) String() string {
	switch r {
	case StrayUnreadable:
		return "unreadable"
	case StrayTooLarge:
		return "too large"
	case StrayTooDeep:
		return "too deep"
	case StrayTrailing:
		return "cut short"
	case StrayDuplicate:
		return "duplicate request id"
	case StrayLate:
		return "unmatched answer"
	case StrayUnsupported:
		return "batch"
	}
	return "StrayReason(" + strconv.Itoa(int(r)) + ")"
}

// StrayBytes is how much of a frame a Stray carries.
const StrayBytes = 1 << 10

// Stray is something that came in and could not be used. None of them ends the
// connection.
type Stray struct {
	// Reason says why it could not be used.
	Reason StrayReason
	// Frame is its beginning, at most StrayBytes, borrowed until OnStray returns.
	Frame []byte
	// Size is the length of the whole frame, as far as it is known.
	Size int
	// Err is what reading it came to, nil if nothing.
	Err error
}
