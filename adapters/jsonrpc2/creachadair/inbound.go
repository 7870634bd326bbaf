package creachadair

import (
	"bytes"
	"context"
	"fmt"

	"github.com/creachadair/jrpc2"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// handle takes what the server asks and notifies.
func (c *Client) handle(ctx context.Context, r *conn.Inbound) {
	<-c.up
	if r.IsNotification() {
		if c.o.OnNotify == nil {
			c.o.Logger.Printf("Discarding notification: %s", r.Method())
			return
		}
		c.o.OnNotify(request(r))
		return
	}
	if c.o.OnCallback == nil {
		c.o.Logger.Printf("Refusing callback request: %s", r.Method())
		_ = r.ReplyError(&codec.Error{Code: codec.CodeMethodNotFound, Message: jrpc2.MethodNotFound.String()})
		return
	}
	result, err := c.callback(context.WithValue(ctx, clientKey{}, c), r)
	var text []byte
	if err == nil {
		text, err = codec.AppendValue(nil, result)
	}
	// A reply that fails finds the connection closed or the request withdrawn:
	// nobody is there to be told.
	if err != nil {
		_ = r.ReplyError(ourError(err))
		return
	}
	_ = r.Reply(text)
}

// callback runs OnCallback. A panic becomes an error for the server, as in the
// library.
func (c *Client) callback(ctx context.Context, r *conn.Inbound) (result any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic in callback handler: %v", v)
		}
	}()
	return c.o.OnCallback(ctx, request(r))
}

// request is what the server sent as the library has it.
func request(r *conn.Inbound) *jrpc2.Request {
	p := jrpc2.ParsedRequest{Method: r.Method(), Params: bytes.Clone(r.Params())}
	if !r.IsNotification() {
		p.ID = string(r.ID().Append(nil))
	}
	return p.ToRequest()
}
