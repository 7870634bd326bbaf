package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// CallOptions of one call. The zero value has the client's timeout and asks for no
// progress.
type CallOptions struct {
	// Timeout is the total time: zero is Options.Conn.Timeout, negative none.
	Timeout time.Duration
	// CancelGrace is how long a call whose timeout is over or whose ctx has ended still
	// waits for the server, which it has told by $/cancelRequest, to answer. The
	// protocol has it that a cancelled request is answered too: with
	// ErrRequestCancelled, with what was found so far, or, where the cancel came
	// too late, with the result, which is the call's then. Zero and negative do not
	// wait: the call ends at once, the answer is counted and dropped. For calls whose
	// effects matter, such as workspace/executeCommand.
	CancelGrace time.Duration
	// WorkDone gets the reports on the work: the value of each, JSON text which it may
	// keep. It asks for them by putting a workDoneToken into params, which must be
	// absent, or an object without one.
	WorkDone func(value json.RawMessage)
	// Partial gets the parts of the result as they are found, and may keep them: JSON
	// text, whose type is that of the result. The result itself is then empty. It puts
	// a partialResultToken into params, as WorkDone does its own.
	Partial func(value json.RawMessage)
}

// Call makes a call with typed params and a typed result; see Client.Call. A null result
// is the zero value of R. A result that is no R fails with conn.ErrInvalidAnswer.
func Call[R any](ctx context.Context, c *Client, method string, params any, o CallOptions) (R, error) {
	var result R
	raw, err := c.Call(ctx, method, params, o)
	if err != nil {
		return result, err
	}
	if p, ok := any(&result).(*json.RawMessage); ok {
		*p = raw
		return result, nil
	}
	if err := codec.DecodeValue(raw, &result); err != nil {
		return result, fmt.Errorf("%s: %w: %w", method, conn.ErrInvalidAnswer, err)
	}
	return result, nil
}

// Call sends a request and waits for its answer, of which it returns the JSON text of
// the result. The caller owns that. params are encoded as JSON; json.RawMessage goes out
// as it is, and nil is left out.
//
// A call whose ctx ends, or whose timeout does, is cancelled at the server and fails
// with conn.ErrCancelled or conn.ErrTimeout; CancelGrace has it wait for what the server
// says to that. WorkDone and Partial run on the caller's goroutine.
func (c *Client) Call(ctx context.Context, method string, params any, o CallOptions) (json.RawMessage, error) {
	if err := c.ready(method); err != nil {
		return nil, err
	}
	switch p := params.(type) {
	case nil:
		return c.call(ctx, method, nil, o)
	case json.RawMessage:
		return c.call(ctx, method, p, o)
	}
	buf, err := codec.EncodeValue(params)
	if err != nil {
		return nil, fmt.Errorf("%s: params: %w", method, err)
	}
	defer codec.PutValue(buf)
	return c.call(ctx, method, buf.B, o)
}

// call makes a call in any state.
func (c *Client) call(ctx context.Context, method string, params []byte, o CallOptions) (json.RawMessage, error) {
	if o.WorkDone != nil || o.Partial != nil || o.CancelGrace > 0 {
		return c.follow(ctx, method, params, o)
	}
	result, err := c.conn.Call(ctx, method, params, conn.CallOptions{Timeout: o.Timeout})
	if err != nil {
		return nil, answered(method, err, nil)
	}
	return result, nil
}

// Notify sends a notification; params are as in Call. It waits for room in the write
// buffer until ctx ends. What one goroutine sends keeps its order.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	if err := c.ready(method); err != nil {
		return err
	}
	raw, err := encode(params)
	if err != nil {
		return fmt.Errorf("%s: params: %w", method, err)
	}
	return c.conn.Notify(ctx, method, raw)
}

// encode is v as JSON text, nil for nil.
func encode(v any) (json.RawMessage, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return v, nil
	}
	buf, err := codec.EncodeValue(v)
	if err != nil {
		return nil, err
	}
	defer codec.PutValue(buf)
	return append(json.RawMessage(nil), buf.B...), nil
}
