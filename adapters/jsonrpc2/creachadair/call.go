package creachadair

import (
	"context"
	"errors"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/valyala/bytebufferpool"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// Call is (*jrpc2.Client).Call: it makes a call and waits for the response or the
// end of ctx.
//
// Errors: *jrpc2.Error of the server and of params that are no object or array;
// context.Canceled and context.DeadlineExceeded when ctx ended, the latter also when
// a Timeout of ClientOptions.Conn passed; context.Canceled as well for what was
// pending when the client stopped; io.EOF, ErrStopped or what broke the connection
// for calls after that.
func (c *Client) Call(ctx context.Context, method string, params any) (*Response, error) {
	text, err := encode(params)
	if err != nil {
		return nil, err
	}
	r := &Response{client: c}
	r.result, r.failure = c.conn.Call(ctx, method, bytesOf(text), conn.CallOptions{ID: &r.wire})
	codec.PutValue(text)
	if r.failure != nil && r.wire.IsAbsent() {
		return nil, c.unsent(ctx, r.failure)
	}
	if c.complete(ctx, r); r.err != nil {
		return nil, filtered(r.err)
	}
	return r, nil
}

// CallResult is (*jrpc2.Client).CallResult: Call, and its result decoded into what
// result points to.
func (c *Client) CallResult(ctx context.Context, method string, params, result any) error {
	r, err := c.Call(ctx, method, params)
	if err != nil {
		return err
	}
	return r.UnmarshalResult(result)
}

// Notify is (*jrpc2.Client).Notify: it queues a notification, waiting for room until
// ctx ends. Errors are those of Call that have to do with sending.
func (c *Client) Notify(ctx context.Context, method string, params any) error {
	text, err := encode(params)
	if err != nil {
		return err
	}
	defer codec.PutValue(text)
	if err := c.conn.Notify(ctx, method, bytesOf(text)); err != nil {
		return c.unsent(ctx, err)
	}
	return nil
}

// Batch is (*jrpc2.Client).Batch: it makes all calls and sends all notifications,
// in order, and waits for every response or the end of ctx. The responses are those
// of the calls, in their order. An error tells that params could not be encoded, and
// then nothing was sent, or that the client has stopped or ctx ended while it was
// sent.
func (c *Client) Batch(ctx context.Context, specs []jrpc2.Spec) ([]*Response, error) {
	if len(specs) == 0 {
		return nil, errEmptyBatch
	}
	texts := make([]*bytebufferpool.ByteBuffer, len(specs))
	defer func() {
		for _, text := range texts {
			codec.PutValue(text)
		}
	}()
	for i, spec := range specs {
		var err error
		if texts[i], err = encode(spec.Params); err != nil {
			return nil, err
		}
	}
	var responses []*Response
	for i, spec := range specs {
		if spec.Notify {
			if err := c.conn.Notify(ctx, spec.Method, bytesOf(texts[i])); err != nil {
				c.abandon(responses)
				return nil, c.unsent(ctx, err)
			}
			continue
		}
		r, err := c.start(ctx, spec.Method, bytesOf(texts[i]))
		if err != nil {
			c.abandon(responses)
			return nil, err
		}
		responses = append(responses, r)
	}
	for _, r := range responses {
		c.wait(ctx, r)
	}
	return responses, nil
}

// start makes a call of a batch. Its ctx counts while it waits for room, and its deadline is
// the call's.
func (c *Client) start(ctx context.Context, method string, params []byte) (*Response, error) {
	r := &Response{client: c, done: make(chan struct{})}
	c.crowd.Begin()
	id, err := c.conn.Start(ctx, method, params, conn.CallOptions{}, r.settled)
	if err != nil {
		c.crowd.End()
		return nil, c.unsent(ctx, err)
	}
	r.wire = id
	return r, nil
}

// wait waits for a response of a batch, which it completes.
func (c *Client) wait(ctx context.Context, r *Response) {
	select {
	case <-r.done:
	default:
		select {
		case <-r.done:
		case <-ctx.Done():
			c.conn.Cancel(r.wire, context.Cause(ctx))
			<-r.done // the cancel, or what was there before it
		}
	}
	c.complete(ctx, r)
}

// complete says what the end of a call means to the caller.
func (c *Client) complete(ctx context.Context, r *Response) {
	if r.failure == nil {
		return
	}
	r.err = c.failed(ctx, r.failure)
	_, answered := errors.AsType[*codec.Error](r.failure)
	if c.o.OnCancel != nil && !answered && (ctx.Err() != nil || past(ctx)) {
		c.o.OnCancel(c, r)
	}
}

// past reports whether the deadline of ctx has passed, which the connection may see
// a moment before ctx does.
func past(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && !time.Now().Before(deadline)
}

// abandon gives up the calls of a batch that could not be sent whole.
func (c *Client) abandon(responses []*Response) {
	for _, r := range responses {
		c.conn.Cancel(r.wire, nil)
	}
}

var errEmptyBatch = &jrpc2.Error{Code: jrpc2.InvalidRequest, Message: "empty request batch"}

// encode encodes params, which must become an object, an array or null. Nil is
// nothing.
func encode(params any) (*bytebufferpool.ByteBuffer, error) {
	if params == nil {
		return nil, nil
	}
	buf, err := codec.EncodeValue(params)
	if err != nil {
		return nil, err
	}
	if c := buf.B[0]; c != '{' && c != '[' && c != 'n' {
		codec.PutValue(buf)
		return nil, &jrpc2.Error{Code: jrpc2.InvalidRequest, Message: "invalid parameters: array or object required"}
	}
	return buf, nil
}

func bytesOf(buf *bytebufferpool.ByteBuffer) []byte {
	if buf == nil {
		return nil
	}
	return buf.B
}
