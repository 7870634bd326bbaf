package gateway

import (
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/gateway/link"
)

// EventKind says what an Event tells.
type EventKind uint8

// The kinds.
const (
	// CallEnded: a call is over; Outcome says how.
	CallEnded EventKind = iota + 1
	// ClientJoined and ClientLeft: a session began or ended.
	ClientJoined
	ClientLeft
	// UpstreamUp and UpstreamDown: a way to a server was opened, or lost or could not be.
	UpstreamUp
	UpstreamDown
	// Dropped: a message went nowhere; Reason says why.
	Dropped
	// UpstreamEnded: the gateway itself ended a way, which nobody uses any more.
	UpstreamEnded
	// ResourcesConflict: two upstreams of a merged server have one resource; Err is a
	// *ResourceConflict. Each conflict is told once.
	ResourcesConflict
)

// Outcome says how a call ended, in words that metrics use as they are.
type Outcome string

// The outcomes.
const (
	Answered  Outcome = "ok"        // the upstream's result
	Failed    Outcome = "error"     // the upstream's own error
	Expired   Outcome = "timeout"   // a deadline passed
	Cancelled Outcome = "cancelled" // by the client, an operator, or the client's end
	Lost      Outcome = "lost"      // the upstream went
	Refused   Outcome = "refused"   // the gateway did not take it
)

// Event is something that happened, for logs and metrics. What it refers to may be
// kept; nothing of it is borrowed.
type Event struct {
	// Kind says which of the other fields are set.
	Kind EventKind
	// Client is the number of the session that it is about, as Session.Number has it, 0
	// where it is about none; Peer is who that is.
	Client uint64
	Peer   link.Peer
	// Upstream is the name of the server that it is about, "" where it is about none, or
	// a call was answered by the gateway itself.
	Upstream string
	// ID, Method, Tool, Outcome, Waited and Took are of a call that ended: ID as its client
	// wrote it, Tool the name of the tool or prompt, "" where there is none. Waited is how
	// long it was until it was sent, all of its time if it never was, and Took how long from
	// then on; of what the gateway answered itself Took is all.
	ID           codec.ID
	Method, Tool string
	Outcome      Outcome
	Waited, Took time.Duration
	// Sent says that the call was given to its upstream.
	Sent bool
	// Cause is why a call was lost while the way to its server goes on; "" where that went,
	// and of all calls that were not lost.
	Cause Cause
	// Span is what the Tracer gave for the call, if there is one.
	Span any
	// Reason says why something was dropped; zero of all other kinds.
	Reason Reason
	// Err says why an upstream or a client went, or a call failed: a *codec.Error where
	// it was the upstream's answer, or is the client's, ErrTool where a tool's result says
	// isError, a *ResourceConflict; else nil.
	Err error
}

// Reason says why a message was dropped.
type Reason uint8

// The reasons.
const (
	LateAnswer       Reason = iota + 1 // an answer to a call that is over
	UnknownAnswer                      // an answer to what nobody asked
	DuplicateRequest                   // a request whose id is in flight from this client
	UnreadableClient                   // a frame of a client that is no message
	UnreadableServer                   // a frame of an upstream that is no message
	LateProgress                       // progress of a call that is over, or unknown
	UnknownCancel                      // a cancel of what is not in flight
	UnownedNote                        // a notification that cannot be proved to be anybody's
	UnownedAsk                         // a server's request that cannot be proved to be for anybody
	ClientSlow                         // a notification for a client that does not keep up
	ClientOnlyNote                     // a notification of one client for an upstream that many share
	reasons
)

// String gives the name that metrics use.
func (r Reason) String() string {
	if r > 0 && r < reasons {
		return [...]string{
			"late_answer", "unknown_answer", "duplicate_request", "unreadable_client", "unreadable_server", "late_progress",
			"unknown_cancel", "unowned_notification", "unowned_request", "client_slow", "client_notification",
		}[r-1]
	}
	return "unknown"
}
