package mcp

import (
	"context"
	"errors"
	"fmt"
)

// ErrNotFound is what a ResourceHandler returns for a resource that does not
// exist.
var ErrNotFound = errors.New("mcp: resource not found")

// CancelledError is the cause of a handler's context that ended since the call was
// cancelled, for whatever reason. It is a context.Canceled.
type CancelledError struct {
	// The run that was cancelled.
	Invocation InvocationID
}

// Error names the invocation.
func (e *CancelledError) Error() string {
	return fmt.Sprintf("mcp: invocation %d was cancelled", e.Invocation)
}

// Unwrap gives context.Canceled.
func (e *CancelledError) Unwrap() error { return context.Canceled }
