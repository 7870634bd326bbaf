package client

import (
	"context"
	"strconv"
	"time"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
)

// Limits, used where Options say nothing.
const (
	// DefaultProbeTimeout is how long server/discover may go unanswered before the
	// server is taken for one of the older era.
	DefaultProbeTimeout = 5 * time.Second
	// DefaultTimeout is the total time of a call that names none.
	DefaultTimeout = 60 * time.Second
	// DefaultMaxRounds is how often one call may be asked for input.
	DefaultMaxRounds = 8
)

// NoTimeout in Options and CallOptions means no deadline.
const NoTimeout = conn.NoTimeout

// Era says which revisions a client speaks.
type Era uint8

const (
	// EraAuto asks the server; see the package's text.
	EraAuto Era = iota
	// EraModern speaks 2026-07-28 and later only.
	EraModern
	// EraLegacy begins with initialize, without asking first.
	EraLegacy
)

// Options of a client. The zero value is a client without a name of its own that
// answers no questions of the server.
type Options struct {
	// Info names the client to the server. Empty is this module's name.
	Info mcp.Implementation
	// Era says which revisions to speak.
	Era Era
	// Legacy is the revision that initialize asks for. Empty is
	// mcp.NewestLegacy; what is no older revision is refused. The server may answer
	// with another one.
	Legacy mcp.Revision
	// Eras remembers the era of peers. Nil is one that all clients of the process
	// share; &Eras{} shares with nobody.
	Eras *Eras

	// Elicit answers questions for the user; nil declares that there is no user.
	// Where it accepts, members that its content lacks are filled in with the
	// defaults of the form. It is called on a goroutine of its own, as are Sample
	// and Roots, and ctx ends when the question is withdrawn. An error is shown
	// to an older server as an internal one, and fails the call of a modern one.
	Elicit func(ctx context.Context, p mcp.ElicitParams) (mcp.ElicitResult, error)
	// ElicitURL says that Elicit takes the mode "url" too.
	ElicitURL bool
	// Sample asks a model; nil declares that there is none.
	Sample func(ctx context.Context, p mcp.SamplingParams) (mcp.SamplingResult, error)
	// Roots lists the roots; nil declares that there are none.
	Roots func(ctx context.Context) ([]mcp.Root, error)
	// Experimental and Extensions are declared as they are: by name, the JSON text
	// of the settings.
	Experimental, Extensions mcp.Meta

	// ProbeTimeout bounds the question whether a server is modern. Zero is
	// DefaultProbeTimeout, negative none.
	ProbeTimeout time.Duration
	// Timeout is the total time of a call that names none, the rounds of its input
	// each. Zero is DefaultTimeout, negative none.
	Timeout time.Duration
	// IdleTimeout is how long a call may hear nothing; progress moves it, and over
	// HTTP every byte does. Zero and negative are none.
	IdleTimeout time.Duration
	// MaxRounds bounds how often one call may be asked for input. Zero is
	// DefaultMaxRounds, negative none at all.
	MaxRounds int

	// OnLog gets log lines. Like OnNotification it is called by one goroutine at a
	// time per connection, or per HTTP stream, and delays what is behind it.
	OnLog func(m mcp.LogMessage)
	// OnNotification gets every notification that is neither progress, nor a log
	// line for OnLog, nor of a modern subscription. params are borrowed.
	OnNotification func(method string, params []byte)

	// Observer sees every request of a call when it has ended. It is called by the
	// goroutine of the call and must not block; what it panics with is dropped. The
	// handshake and subscriptions are no calls. Nil costs nothing.
	Observer func(CallEvent)
	// Tracer follows every request: those of calls, of the handshake and of
	// subscriptions. Nil costs nothing.
	Tracer Tracer
	// Label names this client in the events.
	Label string

	// Conn has the limits of the connection: frames, buffers, keep-alive, hooks.
	// Profile, Handler, Batches, Timeout and IdleTimeout are the client's own. Over
	// HTTP MaxPending, Overflow, Grace, MaxFrame, MaxDepth, MaxConcurrent, MaxQueued,
	// MaxQueuedBytes, Observer, OnPanic and Clock count.
	Conn conn.Options
}

// CallOptions of one call. The zero value takes the client's.
type CallOptions struct {
	// Timeout is the total time. Zero is the client's, negative none.
	Timeout time.Duration
	// IdleTimeout is how long the call may hear nothing. Zero is the client's,
	// negative none.
	IdleTimeout time.Duration
	// Progress gets the call's progress, in order and before the call returns. A
	// value that does not rise is dropped; when the server asks for input, counting
	// begins anew. It may block, which delays the call's answer: of what comes
	// meanwhile the latest is told. Setting it asks for progress.
	Progress func(p mcp.Progress)
	// LogLevel asks a modern server for the log lines of this call from that level
	// on; they go to Options.OnLog. Servers of the older era have SetLevel. What is no
	// level fails with *OptionError.
	LogLevel mcp.Level
	// Meta are further members of the request's _meta, such as traceparent.
	Meta mcp.Meta

	about string // a tool, a prompt or a URI, for who watches
}

// refuse finds values that mean nothing.
func (o *Options) refuse() error {
	switch {
	case o.Era > EraLegacy:
		return &OptionError{Field: "Era", Value: strconv.Itoa(int(o.Era)), Problem: "unknown"}
	case o.Legacy != "" && !o.Legacy.IsLegacy():
		return &OptionError{Field: "Legacy", Value: string(o.Legacy), Problem: "no revision that begins with initialize"}
	}
	return nil
}

// knownLevel refuses a level that has no name. none says whether LevelNone has a meaning.
func knownLevel(field string, l mcp.Level, none bool) error {
	if l > mcp.LevelEmergency || l == mcp.LevelNone && !none {
		return &OptionError{Field: field, Value: strconv.Itoa(int(l)), Problem: "no level of log lines"}
	}
	return nil
}

// withDefaults fills in what o leaves open.
func (o Options) withDefaults() Options {
	if o.Info.Name == "" {
		o.Info = mcp.Implementation{Name: "correlator", Version: "1"}
	}
	if o.Legacy == "" {
		o.Legacy = mcp.NewestLegacy
	}
	if o.Eras == nil {
		o.Eras = &sharedEras
	}
	if o.ProbeTimeout == 0 {
		o.ProbeTimeout = DefaultProbeTimeout
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	switch {
	case o.MaxRounds == 0:
		o.MaxRounds = DefaultMaxRounds
	case o.MaxRounds < 0:
		o.MaxRounds = 0
	}
	return o
}

// capabilities is what the client declares: what it has a function for.
func (o *Options) capabilities() mcp.ClientCapabilities {
	c := mcp.ClientCapabilities{Experimental: o.Experimental, Extensions: o.Extensions}
	if o.Elicit != nil {
		c.Elicitation = &mcp.ElicitationCapability{Form: &struct{}{}}
		if o.ElicitURL {
			c.Elicitation.URL = &struct{}{}
		}
	}
	if o.Sample != nil {
		c.Sampling = &mcp.SamplingCapability{}
	}
	if o.Roots != nil {
		c.Roots = &mcp.RootsCapability{ListChanged: true}
	}
	return c
}
