package lsp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// Limits, used where Options say nothing.
const (
	// DefaultExitGrace is how long a server may take to end after exit.
	DefaultExitGrace = 5 * time.Second
	// DefaultProgressBytes bounds the progress of one call that waits for its handler.
	DefaultProgressBytes = 16 << 20
)

// NotificationHandler gets the params of one notification of the server: its JSON text,
// nil if there are none, which it may keep. ctx ends with the connection. What it
// returns goes to Options.OnError.
type NotificationHandler func(ctx context.Context, params json.RawMessage) error

// RequestHandler answers one request of the server. params are its JSON text, nil if
// there are none, which it may keep. ctx ends when the server cancels the request, which
// is answered with RequestCancelled then, and with the connection. The result is encoded
// as JSON; json.RawMessage goes out as it is, and nil as null. An error is answered with
// the *codec.Error or the Code that it wraps, else with ErrInternal and its text.
type RequestHandler func(ctx context.Context, params json.RawMessage) (any, error)

// Options of a Client. The zero value serves: what the server notifies is dropped, what
// it asks is answered as OnRequest says.
type Options struct {
	// Conn are the limits and hooks of the connection. Profile, Framer, Handler, Inline,
	// Batches and Overflow are this package's own: calls wait for room, under their
	// context. Timeout is the total time of a call that names none: zero is a minute,
	// negative none. MaxQueued and MaxQueuedBytes bound requests of the server that are
	// not answered yet, and the notifications that wait for their handler: what exceeds
	// them is refused with ErrInternal, or dropped, counted and shown to OnStray.
	Conn conn.Options

	// OnNotification are the handlers by method. The one under "" gets what no other
	// does. They run in the order in which the notifications came, one at a time.
	// $/progress comes here if its token is of no call of this client: that of the
	// initialize params, or one that the server made. The map must not be changed
	// any more.
	OnNotification map[string]NotificationHandler
	// OnRequest are the handlers by method. The one under "" gets what no other does
	// and what is not answered by itself. They run at once. The map must not be changed
	// any more. Answered without a handler are:
	//
	//	workspace/configuration              Settings, null for what is not there
	//	workspace/workspaceFolders           those of the initialize params
	//	workspace/applyEdit                  not applied
	//	client/registerCapability,
	//	client/unregisterCapability          null: done
	//	window/workDoneProgress/create       null: welcome
	//	window/showMessageRequest            null: no choice made
	//	window/showDocument                  no success
	//	workspace/*/refresh                  null: heard
	//
	// and everything else is refused with ErrMethodNotFound. A server is only to ask
	// for what the initialize params say that the client can do.
	OnRequest map[string]RequestHandler
	// Settings answer workspace/configuration, by section; nil values are null. The
	// map must not be changed any more.
	Settings map[string]any

	// OnError gets what a NotificationHandler returned, and why an answer to a request
	// of the server could not be sent. Nil drops it.
	OnError func(method string, err error)
	// ExitGrace is how long Shutdown waits, after exit, for the server to end by
	// itself. Zero is DefaultExitGrace, negative none.
	ExitGrace time.Duration
	// ProgressBytes bounds what waits for the WorkDone and Partial of one call; one
	// value alone always may. Beyond it the call ends with ErrSlowProgress, since a
	// result with parts left out is none. Zero is DefaultProgressBytes, negative no
	// bound.
	ProgressBytes int
}

func (o Options) withDefaults() Options {
	switch {
	case o.ExitGrace == 0:
		o.ExitGrace = DefaultExitGrace
	case o.ExitGrace < 0:
		o.ExitGrace = 0
	}
	if o.ProgressBytes == 0 {
		o.ProgressBytes = DefaultProgressBytes
	}
	return o
}

// HandleNotification is f as a NotificationHandler: it gets the params decoded. Params
// that are no P are an error.
func HandleNotification[P any](f func(ctx context.Context, params P) error) NotificationHandler {
	return func(ctx context.Context, raw json.RawMessage) error {
		var params P
		if err := decode(raw, &params); err != nil {
			return err
		}
		return f(ctx, params)
	}
}

// HandleRequest is f as a RequestHandler: it gets the params decoded. Params that are no
// P are answered with ErrInvalidParams.
func HandleRequest[P, R any](f func(ctx context.Context, params P) (R, error)) RequestHandler {
	return func(ctx context.Context, raw json.RawMessage) (any, error) {
		var params P
		if err := decode(raw, &params); err != nil {
			return nil, &codec.Error{Code: codec.CodeInvalidParams, Message: err.Error()}
		}
		return f(ctx, params)
	}
}

// decode decodes params; absent ones leave v as it is.
func decode(raw json.RawMessage, v any) error {
	if raw == nil {
		return nil
	}
	return codec.DecodeValue(raw, v)
}
