package mcp

import "context"

// Host is what a handler can reach while it runs: whoever runs it. Its methods may
// be called by several goroutines, until the handler returned.
type Host interface {
	// Report passes progress on, and returns when it was written. For a request
	// without a progress token it looks at the form of p alone.
	Report(ctx context.Context, p Progress) error
	// Log passes a log line on.
	Log(ctx context.Context, m LogMessage) error
}

// Request is a handler's view of the call: the invocation, and how to reach the
// client while it lasts.
type Request struct {
	*Invocation
	host Host
}

// Report tells the client how far the call has come. Without a progress token it
// succeeds for every p that is well-formed, and does nothing; without a host it does
// nothing at all. Its errors are those of package progress.
func (r *Request) Report(ctx context.Context, p Progress) error {
	if r.host == nil {
		return nil
	}
	return r.host.Report(ctx, p)
}

// Log sends the client a log line, if it asked for lines of that level. data is
// encoded as JSON.
func (r *Request) Log(ctx context.Context, level Level, logger string, data any) error {
	if r.host == nil {
		return nil
	}
	text, err := appendAny(nil, data)
	if err != nil {
		return err
	}
	return r.host.Log(ctx, LogMessage{Level: level, Logger: logger, Data: text})
}
