package mcp

import (
	"github.com/correlator-go/correlator/codec"
)

// Status says in a word how a handler ended, for telemetry.
type Status uint8

// The statuses.
const (
	Succeeded      Status = iota + 1
	ToolFailed            // a result with IsError
	InputRequested        // the client is asked
	Failed                // an error of the protocol
)

// String gives the lower-case name of s.
func (s Status) String() string {
	switch s {
	case Succeeded:
		return "succeeded"
	case ToolFailed:
		return "tool_failed"
	case InputRequested:
		return "input_requested"
	case Failed:
		return "failed"
	}
	return "none"
}

// Outcome is what a handler's run came to, encoded. Perform makes it; Fail makes
// one for a run that never was.
type Outcome struct {
	status Status
	body   []byte         // the JSON text of the result; owned
	err    *codec.Error   // Failed
	input  *InputRequired // InputRequested
}

// Status says how the handler ended: succeeded, tool_failed, input_requested or
// failed.
func (o Outcome) Status() Status { return o.status }

// Err is the error of the protocol that the request is answered with; nil unless
// Failed.
func (o Outcome) Err() *codec.Error { return o.err }

// Fail is the outcome of a handler that could not be run: the request is answered
// with e. It is for front ends, when a queue is full.
func Fail(e *codec.Error) Outcome { return Outcome{status: Failed, err: e} }
