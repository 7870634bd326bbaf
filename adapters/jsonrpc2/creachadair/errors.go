package creachadair

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// why is why the client has stopped, in the library's terms; nil while it has not.
func (c *Client) why() error { return cause(c.conn.Err()) }

// cause is the reason of a connection's end in the library's terms.
func cause(err error) error {
	if gone, ok := errors.AsType[*conn.PeerGone](err); ok {
		return gone.Unwrap()
	}
	if errors.Is(err, conn.ErrClosed) || errors.Is(err, conn.ErrDraining) {
		return ErrStopped
	}
	return err
}

// uninteresting tells the ends that are in order, as the library does.
func uninteresting(err error) bool {
	return err == nil || errors.Is(err, io.EOF) || errors.Is(err, ErrStopped) || channel.IsErrClosing(err)
}

// unsent is the error of what could not be sent.
func (c *Client) unsent(ctx context.Context, err error) error {
	if errors.Is(err, conn.ErrClosed) || errors.Is(err, conn.ErrDraining) {
		if why := c.why(); why != nil {
			return why
		}
		return ErrStopped
	}
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	return err
}

// failed is the error of a response. What ends with ctx or with the client is
// cancelled, as in the library.
func (c *Client) failed(ctx context.Context, err error) *jrpc2.Error {
	if e, ok := errors.AsType[*codec.Error](err); ok {
		return theirError(e)
	}
	switch {
	case errors.Is(err, conn.ErrClosed):
		if why := c.why(); !uninteresting(why) {
			return &jrpc2.Error{Code: jrpc2.InternalError, Message: why.Error()}
		}
		err = context.Canceled
	case errors.Is(err, conn.ErrTimeout):
		// The connection may see the deadline of ctx pass a moment before ctx does.
		if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
			err = context.DeadlineExceeded
		}
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, conn.ErrInvalidAnswer):
		return &jrpc2.Error{Code: jrpc2.InvalidRequest, Message: err.Error()}
	}
	return &jrpc2.Error{Code: jrpc2.ErrorCode(err), Message: err.Error()}
}

// filtered is what Call returns for the error of its response.
func filtered(e *jrpc2.Error) error {
	switch e.Code {
	case jrpc2.Cancelled:
		return context.Canceled
	case jrpc2.DeadlineExceeded:
		return context.DeadlineExceeded
	}
	return e
}

// theirError is an error of the server as the library has it. A code that does not
// fit becomes an internal error.
func theirError(e *codec.Error) *jrpc2.Error {
	code := jrpc2.InternalError
	if e.Code >= math.MinInt32 && e.Code <= math.MaxInt32 {
		code = jrpc2.Code(e.Code)
	}
	return &jrpc2.Error{Code: code, Message: e.Message, Data: json.RawMessage(e.Data)}
}

// ourError is an error of a callback for the wire.
func ourError(err error) *codec.Error {
	if e, ok := errors.AsType[*jrpc2.Error](err); ok {
		return &codec.Error{Code: int64(e.Code), Message: e.Message, Data: e.Data}
	}
	return &codec.Error{Code: int64(jrpc2.ErrorCode(err)), Message: err.Error()}
}
