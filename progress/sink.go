package progress

import (
	"strings"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
)

// Sink takes the reports of one request. The transport makes it and closes it.
//
//	closed        never opens again
//	outstanding   a report is under way: the gate is held
//	bound         the reporter was given out
//
// The three are independent: a sink may be closed under a report that is under
// way, which Accept then refuses.
type Sink struct {
	limits      Limits
	context     Context // written by the winner of bound, before the reporter is out
	closed      atomic.Bool
	bound       atomic.Bool
	ended       atomic.Bool
	outstanding atomic.Bool
	// turn counts the reports. A report is current while turn is its own, which
	// changes only while the gate is held: so a reply that comes twice, or for a
	// report of before, opens nothing.
	turn  atomic.Uint64
	owner atomic.Pointer[State]
}

// NewSink makes the sink of one request. Its error is an *OptionError.
func NewSink(l Limits) (*Sink, error) {
	l, err := l.WithDefaults()
	if err != nil {
		return nil, err
	}
	return &Sink{limits: l}, nil
}

// Limits are those of the sink, the defaults filled in.
func (s *Sink) Limits() Limits { return s.limits }

// Close ends the sink: later reports, and one that is under way and not yet
// accepted, get ErrClosed. It may be called again and on a nil sink.
func (s *Sink) Close() {
	if s != nil {
		s.closed.Store(true)
	}
}

// Closed reports whether Close was called.
func (s *Sink) Closed() bool { return s.closed.Load() }

// Context is what the transport knows of the request.
type Context struct {
	// Request is the request's id.
	Request codec.ID
	// Token is its progress token, a string or an integer.
	Token codec.ID
	// Shape makes a notification of an accepted report: it appends one JSON
	// object to dst. Nil says that the protocol has no progress;
	// [AppendNotification] is MCP's.
	Shape func(dst []byte, token codec.ID, u Update) ([]byte, error)
	// Cancelled reports whether the request was cancelled. Nil says never.
	Cancelled func() bool
}

// wants reports whether there is anything to bind.
func (c *Context) wants() bool {
	return !c.Request.IsAbsent() && c.Request.Kind() != codec.IDNull && isToken(c.Token) && c.Shape != nil
}

// isToken reports whether id is a string or an integer of any size.
func isToken(id codec.ID) bool {
	switch id.Kind() {
	case codec.IDInt, codec.IDString:
		return true
	case codec.IDNumber:
		return !strings.ContainsAny(id.Text(), ".eE")
	default:
		return false
	}
}

func (c *Context) cancelled() bool { return c.Cancelled != nil && c.Cancelled() }

// Bind gives out the right to report on s. It is nil, without an error, when there
// is nothing to report to: no sink (s is nil), no request id, no token that is a
// string or an integer, or no Shape. A nil Reporter takes reports and does nothing.
//
// ErrClosed: the sink is closed. ErrWrongProcess: the right was given out already.
func (s *Sink) Bind(c Context) (*Reporter, error) {
	if s == nil || !c.wants() {
		return nil, nil
	}
	if s.closed.Load() {
		return nil, ErrClosed
	}
	if !s.bound.CompareAndSwap(false, true) {
		return nil, ErrWrongProcess
	}
	s.context = c
	return &Reporter{sink: s}, nil
}
