package client

import (
	"context"
	"fmt"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
)

// Call calls a method that the client has no method of its own for. params is the
// JSON text of an object, nil for none; what the revision wants in _meta is put in,
// and members that stand there already are left alone. It returns the JSON text of
// the result, which is the caller's, after all rounds of input.
//
// Errors: the server's *codec.Error, an *engine.CallError (conn.ErrTimeout,
// conn.ErrCancelled, conn.ErrClosed), conn.ErrFull, conn.ErrTooLarge,
// conn.ErrInvalidAnswer, *HTTPError, ErrNoAnswer, *InputLoopExceeded, an error of
// Options.Elicit, Sample or Roots, or a *codec.SyntaxError for params that are no
// object.
func (c *Client) Call(ctx context.Context, method string, params []byte, o CallOptions) ([]byte, error) {
	return c.call(ctx, method, params, o, nil)
}

// call is Call with the headers that repeat arguments.
func (c *Client) call(ctx context.Context, method string, params []byte, o CallOptions, headers []mcp.ParamHeader) ([]byte, error) {
	full, err := c.complete(params, o)
	if err != nil {
		return nil, fmt.Errorf("client: %s: params: %w", method, err)
	}
	r := &request{method: method, params: full, headers: headers, timeout: o.Timeout, idle: o.IdleTimeout, about: o.about}
	if o.Progress != nil {
		r.progress = rising(o.Progress)
	}
	text, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	return c.rounds(ctx, r, text, o)
}

// rising tells of one request's progress: what does not rise is against the
// protocol, and no news.
func rising(tell func(mcp.Progress)) func(params []byte) {
	told, last := false, 0.0
	return func(params []byte) {
		var p mcp.ProgressParams
		if codec.DecodeValue(params, &p) != nil || told && p.Progress <= last {
			return
		}
		told, last = true, p.Progress
		tell(mcp.Progress{Value: p.Progress, Total: p.Total, Message: p.Message})
	}
}

// ask is call with typed params and a typed result.
func ask[R any](ctx context.Context, c *Client, method string, params any, o CallOptions, headers ...mcp.ParamHeader) (*R, error) {
	var text []byte
	if params != nil {
		var err error
		if text, err = codec.AppendValue(nil, params); err != nil {
			return nil, fmt.Errorf("client: %s: params: %w", method, err)
		}
	}
	text, err := c.call(ctx, method, text, o, headers)
	if err != nil {
		return nil, err
	}
	result := new(R)
	if err := decode(method, text, result); err != nil {
		return nil, err
	}
	return result, nil
}

// Notify sends a notification. params is the JSON text of an object, nil for none.
// Over HTTP it waits until the server took it.
func (c *Client) Notify(ctx context.Context, method string, params []byte) error {
	return c.link.notify(ctx, method, params)
}

// Ping asks the server for a sign of life: with ping in the older era, with
// server/discover in the modern one, which has no ping.
func (c *Client) Ping(ctx context.Context) error {
	method := mcp.MethodPing
	if c.Revision().IsModern() {
		method = mcp.MethodDiscover
	}
	_, err := c.Call(ctx, method, nil, CallOptions{})
	return err
}

// SetLevel asks a server of the older era for log lines from level on. For a modern
// one, which is asked call by call (CallOptions.LogLevel), and for a server that
// declares no logging it is ErrNotSupported.
func (c *Client) SetLevel(ctx context.Context, level mcp.Level) error {
	if a := c.agreed(); a.revision.IsModern() || a.capabilities.Logging == nil {
		return fmt.Errorf("%w: %s", ErrNotSupported, mcp.MethodSetLevel)
	}
	if err := knownLevel("level", level, false); err != nil {
		return err
	}
	_, err := c.Call(ctx, mcp.MethodSetLevel, appendMemberObject("level", level.String()), CallOptions{})
	return err
}

func appendMemberObject(key, value string) []byte {
	b := append(codec.AppendString([]byte("{"), key), ':')
	return append(codec.AppendString(b, value), '}')
}

// invalid makes the error for an answer that breaks the protocol.
func invalid(method, format string, args ...any) error {
	return fmt.Errorf("client: %s: %w: %s", method, conn.ErrInvalidAnswer, fmt.Sprintf(format, args...))
}
