package gateway

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/gateway/link"
)

// Codes of errors that the gateway makes. JSON-RPC leaves these numbers to
// implementations.
const (
	// CodeTimeout is the one that the TypeScript SDK uses for a call that timed out.
	CodeTimeout = -32001
	// CodeUpstreamLost: the server went, or could not be reached.
	CodeUpstreamLost = -32003
	// CodeBusy: a limit is used up; the data say when to come back.
	CodeBusy = -32004
	// CodeStopping: the gateway is being shut down.
	CodeStopping = -32005
)

// Failure is why a call has no answer of its upstream. It is what the client is told.
type Failure struct {
	// Code is the JSON-RPC code, Text what people read.
	Code int64
	Text string
	// Upstream is the server's name.
	Upstream string
	// Deadline is which deadline passed, "" if none; Elapsed the time until then.
	Deadline string
	Elapsed  time.Duration
	// RetryAfter is when to come back; 0 says nothing about it.
	RetryAfter time.Duration
	// Cause is why a call has no answer although its way goes on; "" of all others.
	Cause Cause
	// Method is that of a call that expired. InFlight is how many calls the upstream had
	// then, that one among them; LastHeard how long ago it had last said anything,
	// negative if it never did; Unmatched how many of its answers belonged to no call.
	Method    string
	InFlight  int
	LastHeard time.Duration
	Unmatched uint64
}

// Cause says why a call has no answer although the way to its server goes on, in words
// that metrics use as they are.
type Cause string

// The causes.
const (
	Unreadable Cause = "unreadable_answer" // what the server answered was no message
	Unsendable Cause = "unsendable"        // its request cannot go this way, as it is too large for instance
)

// Error is the text, with the upstream's name.
func (f *Failure) Error() string { return f.Text }

// answer is f for the client.
func (f *Failure) answer() *codec.Error {
	type state struct {
		InFlight  int    `json:"inFlight"`
		LastHeard *int64 `json:"lastHeardMs,omitempty"`
		Unmatched uint64 `json:"unmatched"`
	}
	data := struct {
		Upstream   string `json:"upstream,omitempty"`
		Method     string `json:"method,omitempty"`
		Deadline   string `json:"deadline,omitempty"`
		ElapsedMS  int64  `json:"elapsedMs,omitempty"`
		RetryAfter int64  `json:"retryAfterMs,omitempty"`
		State      *state `json:"state,omitempty"`
	}{Upstream: f.Upstream, Method: f.Method, Deadline: f.Deadline, ElapsedMS: f.Elapsed.Milliseconds(), RetryAfter: f.RetryAfter.Milliseconds()}
	if f.Deadline != "" && f.InFlight > 0 {
		data.State = &state{InFlight: f.InFlight, Unmatched: f.Unmatched}
		if f.LastHeard >= 0 {
			ms := f.LastHeard.Milliseconds()
			data.State.LastHeard = &ms
		}
	}
	text, err := codec.AppendValue(nil, data)
	if err != nil {
		text = nil // it cannot be: numbers and names only
	}
	return &codec.Error{Code: f.Code, Message: f.Text, Data: text}
}

var (
	errClientCancelled = errors.New("gateway: cancelled by the client")
	errHedged          = errors.New("gateway: the first request was answered")
	errClientGone      = errors.New("gateway: the client has gone")
	// ErrOperator is why a call ended that was cancelled by Gateway.CancelCall.
	ErrOperator = errors.New("gateway: cancelled by an operator")
	// ErrClosed is why calls end when the gateway is closed.
	ErrClosed = errors.New("gateway: closed")
)

// losing is why calls end that are lost together, with what their answers are held in, so
// that each client is written to once.
type losing struct {
	why   error
	burst link.Burst // of the goroutine that fails them
}

func (e *losing) Error() string { return e.why.Error() }
func (e *losing) Unwrap() error { return e.why }

// failAll fails every call of the way. Only who calls it uses the burst: calls that come
// later are not failed by it.
func (b *backend) failAll(why error) {
	if why == nil {
		why = errUnknown
	}
	e := &losing{why: why}
	b.engine.FailAll(e, false)
	e.burst.Flush()
}

// failure is what the client of c is told. What expired is told with the state of the
// upstream, which shows whether it is slow, dead, or answers to nobody.
func (b *backend) failure(c *call, err error) *Failure {
	f := failureOf(b.target.o.Name, c.method, err)
	if f.Deadline == "" {
		return f
	}
	now := b.target.g.clock.Now()
	f.Method, f.Elapsed = c.method, f.Elapsed+c.spent()
	f.InFlight, _ = b.target.gate.Load()
	f.Unmatched = b.unmatched.Load()
	if f.LastHeard = -1; b.heard.Load() != 0 {
		f.LastHeard = now - time.Duration(b.heard.Load())
	}
	return f
}

// failureOf is what a client is told of a call that ended without an answer.
func failureOf(upstream, method string, err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	f := &Failure{Code: CodeUpstreamLost, Upstream: upstream}
	ended, ok := errors.AsType[*engine.CallError](err)
	if !ok {
		f.Text = fmt.Sprintf("upstream %q: %s: %s", upstream, method, words(err))
		return f
	}
	f.Elapsed = ended.Elapsed
	switch {
	case ended.Status == engine.Expired:
		f.Code, f.Deadline = CodeTimeout, ended.Deadline.String()
		f.Text = fmt.Sprintf("upstream %q: %s timed out: %s deadline of %v after %v", upstream, method, f.Deadline, ended.Budget, ended.Elapsed.Round(time.Millisecond))
	case errors.Is(ended.Err, ErrClosed):
		f.Code, f.Text = CodeStopping, "the gateway is shutting down"
	default:
		f.Text = fmt.Sprintf("upstream %q: %s failed after %v: %s", upstream, method, ended.Elapsed.Round(time.Millisecond), words(ended.Err))
	}
	return f
}

// words is an error for who does not know the packages of this module, by whose names
// their errors begin.
func words(err error) string {
	text := err.Error()
	for {
		name, rest, found := strings.Cut(text, ": ")
		if !found || !slices.Contains(packages, name) {
			return text
		}
		text = rest
	}
}

// packages are those whose errors become answers.
var packages = []string{"gateway", "link", "cluster", "upstream", "conn", "client", "engine", "codec", "guard"}
