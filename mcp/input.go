package mcp

import (
	"encoding/json"

	"github.com/correlator-go/correlator/codec"
)

// Input is one thing that happened: a frame came, a handler ended, a peer went.
// The set is closed, and grows only in a major version:
//
//	Received  Finished  Progressed  Crashed  TimedOut  ExchangeClosed
//	Notify  RegisterTool  UnregisterTool  EndStreams  Logged  Answered
//
// Inputs are plain values. Passing one to Step allocates nothing.
type Input interface{ input() }

// Received is a frame from the peer.
type Received struct {
	// Exchange is where the answer goes: NewExchangeID, taken before parsing. A
	// frame on an exchange that is known already has no effect.
	Exchange ExchangeID
	// Frame is the message, borrowed until Step returns.
	Frame []byte
	// Envelope is what codec.Scan found in Frame, in the MCP profile and without
	// an error; nil lets Step scan, which is what a frame that could not be
	// scanned needs too.
	Envelope *codec.Envelope
	// Caller is who sent it.
	Caller Caller
	// Correlation is the value that the transport brought, "" if none. One that
	// is not 1 to 128 visible ASCII bytes is ignored.
	Correlation string
	// Headers are those of an HTTP request of the modern era, to be compared
	// with the body; nil compares nothing.
	Headers *Headers
	// At is the time in milliseconds since 1970, by which the age of request
	// states is judged; 0 judges none.
	At int64
}

// Finished says that a handler returned. Perform makes it.
type Finished struct {
	// The run that ended, and what it came to.
	Invocation InvocationID
	Outcome    Outcome
}

// Progressed is a handler's report. It is written if the request asked for
// progress and the value rose; see Progress.
type Progressed struct {
	// The run that reports, and what.
	Invocation InvocationID
	Progress   Progress
}

// Logged is a log line of a handler. It is written if the request, or the session
// in the older era, asked for lines of its level.
type Logged struct {
	// The run that logs, and what.
	Invocation InvocationID
	Message    LogMessage
}

// Crashed says that a handler panicked. The peer is told that an internal error
// happened and nothing more.
type Crashed struct {
	// The run that crashed.
	Invocation InvocationID
}

// TimedOut says that a handler's time is up.
type TimedOut struct {
	// The run that is out of time.
	Invocation InvocationID
}

// ExchangeClosed says that nothing can be written to an exchange any more, since
// the peer or the transport went. In the older era over HTTP the end of one
// response stream is no such thing.
type ExchangeClosed struct {
	// The exchange that is gone.
	Exchange ExchangeID
}

// Notify tells who asked for it that something changed.
type Notify struct {
	// What changed.
	Notification Notification
}

// RegisterTool adds a tool to this connection's server.
type RegisterTool struct {
	// The tool; one that NewServer would refuse changes nothing.
	Tool ServerTool
}

// UnregisterTool removes a tool from this connection's server. Calls that run go
// on.
type UnregisterTool struct {
	// The tool's name.
	Name string
}

// EndStreams ends every subscription of this connection with its result.
type EndStreams struct{}

// Answered is what became of an Ask: the client's result, or why there is none.
// Older era only.
type Answered struct {
	// Invocation is that of the Ask.
	Invocation InvocationID
	// Key is that of the Ask.
	Key string
	// Result is the JSON text of the client's result, copied; nil when there is
	// none: the client sent an error, or the call expired or failed.
	Result []byte
}

func (Received) input()       {}
func (Finished) input()       {}
func (Progressed) input()     {}
func (Logged) input()         {}
func (Crashed) input()        {}
func (TimedOut) input()       {}
func (ExchangeClosed) input() {}
func (Notify) input()         {}
func (RegisterTool) input()   {}
func (UnregisterTool) input() {}
func (EndStreams) input()     {}
func (Answered) input()       {}

// Caller is who sent a frame, as the front end knows it.
type Caller struct {
	// Principal names the authenticated caller, "" when there is none. Cursors
	// and request states are good for the principal alone that they were given.
	Principal string
	// Value is whatever the front end wants handlers and visibility rules to see:
	// claims, a connection, a request's context. The reducer does not look at it.
	Value any
}

// Progress is how far a call has come.
type Progress struct {
	// Value must rise from report to report, from 0 or more; what does not is
	// dropped, and so is NaN and infinity.
	Value float64
	// Total is what Value will be at the end; 0 leaves it out. It is not compared
	// with Value. A report whose total is no finite number is dropped.
	Total float64
	// Message is for people; "" leaves it out.
	Message string
}

// LogMessage is the content of notifications/message.
type LogMessage struct {
	// Level is the severity, Logger names who logs; "" leaves it out.
	Level  Level
	Logger string // "" leaves it out
	// Data is the JSON text of what is logged; nil is null.
	Data json.RawMessage
}

// Notification is a change that subscribers are told of.
type Notification struct {
	// Kind says what changed.
	Kind NotificationKind
	// URI is the resource of a ResourceUpdated.
	URI string
}

// NotificationKind is what changed.
type NotificationKind uint8

// The kinds of notification.
const (
	ToolsChanged NotificationKind = iota + 1
	PromptsChanged
	ResourcesChanged
	ResourceUpdated
)
