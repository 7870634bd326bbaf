package mcpgo

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// handle takes what the server asks and notifies; start is the ctx of Start.
func (t *Transport) handle(start, own context.Context, l *link, r *conn.Inbound) {
	if r.IsNotification() {
		if n, err := notification(r.Method(), r.Params()); err == nil {
			l.mailbox.put(own, nil, n) // the lane of notifications waits for it
		}
		return
	}
	result, failure := t.answer(handlerContext{own, start}, r)
	// A reply that fails finds the connection closed or the request withdrawn:
	// nobody is there to be told.
	if failure != nil {
		_ = r.ReplyError(failure)
		return
	}
	_ = r.Reply(result)
}

func (t *Transport) answer(ctx context.Context, r *conn.Inbound) ([]byte, *codec.Error) {
	handler := t.request.Load()
	if handler == nil {
		return nil, &codec.Error{Code: codec.CodeMethodNotFound, Message: "No request handler configured"}
	}
	request := transport.JSONRPCRequest{JSONRPC: mcp.JSONRPC_VERSION, ID: requestID(r.ID()), Method: r.Method()}
	if params := r.Params(); params != nil {
		if err := json.Unmarshal(params, &request.Params); err != nil {
			return nil, &codec.Error{Code: codec.CodeInvalidParams, Message: err.Error()}
		}
	}
	response, err := (*handler)(ctx, request)
	switch {
	case err != nil:
		return nil, &codec.Error{Code: codec.CodeInternal, Message: err.Error()}
	case response == nil:
		return nil, &codec.Error{Code: codec.CodeInternal, Message: "no answer"}
	case response.Error != nil:
		return nil, wireError(response.Error)
	}
	return response.Result, nil
}

// wireError is an error of a handler for the wire.
func wireError(d *mcp.JSONRPCErrorDetails) *codec.Error {
	e := &codec.Error{Code: int64(d.Code), Message: d.Message}
	if d.Data != nil {
		data, err := codec.AppendValue(nil, d.Data)
		if err != nil {
			return &codec.Error{Code: codec.CodeInternal, Message: "error data: " + err.Error()}
		}
		e.Data = data
	}
	return e
}

// requestID is an id for mcp-go. A number beyond int64 keeps its text.
func requestID(id codec.ID) mcp.RequestId {
	if n, ok := id.Int(); ok {
		return mcp.NewRequestId(n)
	}
	switch id.Kind() {
	case codec.IDString:
		return mcp.NewRequestId(id.Text())
	case codec.IDNumber:
		return mcp.NewRequestId(json.Number(id.Text()))
	}
	return mcp.NewRequestId(nil)
}

// notification decodes one as mcp-go does.
func notification(method string, params []byte) (mcp.JSONRPCNotification, error) {
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{Method: method}}
	if len(params) == 0 {
		return n, nil
	}
	err := n.Params.UnmarshalJSON(params)
	return n, err
}

// handlerContext ends as the request does and has the values of Start's ctx.
type handlerContext struct {
	context.Context
	values context.Context
}

func (c handlerContext) Value(key any) any { return c.values.Value(key) }
