package gateway

import (
	"errors"
	"fmt"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
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
}

// Error is the text, with the upstream's name.
func (f *Failure) Error() string { return f.Text }

// answer is f for the client.
func (f *Failure) answer() *codec.Error {
	data := struct {
		Upstream   string `json:"upstream,omitempty"`
		Deadline   string `json:"deadline,omitempty"`
		ElapsedMS  int64  `json:"elapsedMs,omitempty"`
		RetryAfter int64  `json:"retryAfterMs,omitempty"`
	}{f.Upstream, f.Deadline, f.Elapsed.Milliseconds(), f.RetryAfter.Milliseconds()}
	text, err := codec.AppendValue(nil, data)
	if err != nil {
		text = nil // it cannot be: numbers and names only
	}
	return &codec.Error{Code: f.Code, Message: f.Text, Data: text}
}

var (
	errClientCancelled = errors.New("gateway: cancelled by the client")
	errClientGone      = errors.New("gateway: the client has gone")
	// ErrOperator is why a call ended that was cancelled by Gateway.CancelCall.
	ErrOperator = errors.New("gateway: cancelled by an operator")
	// ErrClosed is why calls end when the gateway is closed.
	ErrClosed = errors.New("gateway: closed")
)

// failureOf is what a client is told of a call that ended without an answer.
func failureOf(upstream, method string, err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	f := &Failure{Code: CodeUpstreamLost, Upstream: upstream}
	ended, ok := errors.AsType[*engine.CallError](err)
	if !ok {
		f.Text = fmt.Sprintf("upstream %q: %s: %v", upstream, method, err)
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
		f.Text = fmt.Sprintf("upstream %q: %s failed after %v: %v", upstream, method, ended.Elapsed.Round(time.Millisecond), ended.Err)
	}
	return f
}
