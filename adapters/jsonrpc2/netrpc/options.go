package netrpc

import (
	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/link"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// Options of a Codec. The zero value behaves as net/rpc/jsonrpc, but for what the
// package's documentation lists.
type Options struct {
	// Conn are the options of the connection. Profile is JSON-RPC 2.0, and Overflow
	// that of callers that wait, whatever is set. Framer nil reads JSON texts behind
	// each other, as jsonrpc does, and writes lines; codec.LineFramer costs less
	// where the server writes lines too. Timeout zero and negative are none; a call
	// that has one fails with a rpc.ServerError. MaxPending zero and negative are as
	// many as a table can hold. MaxQueued zero is 65,536.
	Conn conn.Options
	// Named sends a call's argument as its params, which must then be a struct, a
	// map, a slice or nil for none. Without it params are an array of the argument.
	Named bool
	// ErrorText makes the text of the rpc.ServerError of a server's error, for those
	// who need its code or data. It runs on the client's goroutine; no answer is taken
	// while it does. Nil takes the message.
	ErrorText func(*codec.Error) string
}

func (o Options) settled() Options {
	o.Conn = link.Settle(o.Conn, new(link.Values))
	if o.Conn.Profile != codec.JSONRPC {
		o.Conn.Profile = codec.JSONRPC
	}
	if o.ErrorText == nil {
		o.ErrorText = func(e *codec.Error) string { return e.Message }
	}
	return o
}
