package mcp

import (
	"context"
	"errors"

	"github.com/correlator-go/correlator/codec"
)

// Perform runs the handler of v, and gives what it came to as the input for Step.
// It does not recover: a handler that panics does so through Perform, and the
// front end says Crashed. host may be nil.
func Perform(ctx context.Context, v *Invocation, host Host) Finished {
	r := &Request{Invocation: v, host: host}
	var o Outcome
	switch target := v.target.(type) {
	case *tool:
		o = performTool(ctx, target.Handle, r)
	case *resource:
		o = performRead(ctx, target.Handle, target.Cache, r)
	case *template:
		o = performRead(ctx, target.Handle, target.Cache, r)
	case *prompt:
		o = performPrompt(ctx, target.Handle, r)
	default:
		o = performComplete(ctx, v.server.d.Complete, r)
	}
	return Finished{Invocation: v.id, Outcome: o}
}

// SignalCancelled tells the handler of an invocation to stop, by ending its
// context with a *CancelledError as the cause. The first signal counts.
func SignalCancelled(cancel context.CancelCauseFunc, id InvocationID) {
	cancel(&CancelledError{Invocation: id})
}

func performTool(ctx context.Context, handle ToolHandler, r *Request) Outcome {
	result, err := handle(ctx, r)
	if err != nil {
		if o, ok := special(err, true); ok {
			return o
		}
		if bad, ok := errors.AsType[*argumentsError](err); ok {
			if !bad.readable {
				return Fail(failParams)
			}
			err = bad
		}
		result = ToolFailure(err.Error())
	}
	if result == nil {
		result = &ToolResult{}
	}
	body, err := r.appendToolResult(r.open(result.room()), result)
	if err != nil {
		return Fail(failInternal)
	}
	status := Succeeded
	if result.IsError {
		status = ToolFailed
	}
	return Outcome{status: status, body: body}
}

// special reads the errors that mean the same for every handler: an error of the
// protocol, and, where that may be, a request for input.
func special(err error, rounds bool) (Outcome, bool) {
	if in, ok := errors.AsType[*InputRequired](err); ok && rounds && in != nil {
		return Outcome{status: InputRequested, input: in}, true
	}
	if e, ok := errors.AsType[*codec.Error](err); ok {
		return Fail(e), true
	}
	return Outcome{}, false
}

func performRead(ctx context.Context, handle ResourceHandler, c Cache, r *Request) Outcome {
	result, err := handle(ctx, r)
	if err != nil {
		if o, ok := special(err, false); ok {
			return o
		}
		if errors.Is(err, ErrNotFound) {
			return Fail(notFound(r.Revision(), r.in.name.Of(r.frame)))
		}
		return Fail(failInternal)
	}
	if result == nil {
		result = &ReadResult{}
	}
	body, err := r.appendReadResult(r.open(64), result, c)
	if err != nil {
		return Fail(failInternal)
	}
	return Outcome{status: Succeeded, body: body}
}

func performPrompt(ctx context.Context, handle PromptHandler, r *Request) Outcome {
	result, err := handle(ctx, r)
	if err != nil {
		if o, ok := special(err, true); ok {
			return o
		}
		return Fail(failParams)
	}
	if result == nil {
		result = &PromptResult{}
	}
	body, err := r.appendPromptResult(r.open(64), result)
	if err != nil {
		return Fail(failInternal)
	}
	return Outcome{status: Succeeded, body: body}
}

func performComplete(ctx context.Context, handle CompleteHandler, r *Request) Outcome {
	c, _ := readCompletion(r.Params()) // admission read it
	result, err := handle(ctx, r, c)
	if err != nil {
		if o, ok := special(err, false); ok {
			return o
		}
		return Fail(failInternal)
	}
	if result == nil {
		result = &CompletionResult{}
	}
	return Outcome{status: Succeeded, body: r.appendCompletion(r.open(64), result)}
}
