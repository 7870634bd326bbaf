package creachadair

import (
	"context"

	"github.com/creachadair/jrpc2"

	"github.com/correlator-go/correlator/conn"
)

// ClientOptions are those of jrpc2.ClientOptions. Nil is valid.
type ClientOptions struct {
	// Logger gets what came in and could not be used. It must not block, and is
	// called by several goroutines.
	Logger jrpc2.Logger
	// OnNotify gets the server's notifications, one at a time, in order. Nil drops
	// them.
	OnNotify func(*jrpc2.Request)
	// OnCallback answers the server's requests, several at once (Conn.MaxConcurrent,
	// 64 by default). Its ctx ends with the connection; [ClientFromContext] gives the
	// client. If it panics the server gets a system error, as from the library.
	OnCallback jrpc2.Handler
	// OnCancel is called when the ctx of a call has ended before its answer came, on
	// the caller's goroutine, before the call returns. rsp has the id that the server
	// knows and the error.
	OnCancel func(cli *Client, rsp *Response)
	// OnStop is called once, when the client has stopped, with the reason: io.EOF
	// when the server closed, ErrStopped after Close. It must not wait for Close.
	OnStop func(cli *Client, err error)
	// Conn are the options of the connection. Handler, Framer, Batches and Overflow
	// are the client's own; Profile is JSON-RPC 2.0 unless it is codec.LSP, with
	// which a call that is given up is cancelled at the server by $/cancelRequest.
	// Timeout zero and negative are none, MaxPending zero and negative as many as a
	// table can hold, MaxQueued zero 65,536.
	Conn conn.Options
}

type clientKey struct{}

// ClientFromContext gives the client that runs an OnCallback with this ctx, nil for
// any other ctx.
func ClientFromContext(ctx context.Context) *Client {
	c, _ := ctx.Value(clientKey{}).(*Client)
	return c
}
