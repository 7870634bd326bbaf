package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

// serve answers what a server of the older era asks.
func (c *Client) serve(ctx context.Context, method string, params []byte) (result []byte, failure *codec.Error) {
	result, err := c.answer(ctx, method, params)
	if err == nil {
		return result, nil
	}
	if e, ok := errors.AsType[*codec.Error](err); ok {
		return nil, e
	}
	return nil, &codec.Error{Code: codec.CodeInternal, Message: err.Error()}
}

// answer answers a question of the server, in either era.
func (c *Client) answer(ctx context.Context, method string, params []byte) ([]byte, error) {
	switch {
	case method == mcp.MethodPing:
		return []byte("{}"), nil
	case method == mcp.MethodElicit && c.o.Elicit != nil:
		return c.elicit(ctx, params)
	case method == mcp.MethodCreateMessage && c.o.Sample != nil:
		return answerWith(c, params, func(p mcp.SamplingParams) (mcp.SamplingResult, error) { return c.o.Sample(ctx, p) })
	case method == mcp.MethodListRoots && c.o.Roots != nil:
		return answerWith(c, nil, func(struct{}) (mcp.RootsResult, error) {
			roots, err := c.o.Roots(ctx)
			if roots == nil {
				roots = []mcp.Root{}
			}
			return mcp.RootsResult{Roots: roots}, err
		})
	}
	return nil, &codec.Error{Code: codec.CodeMethodNotFound, Message: "method not found"}
}

// answerWith runs one of the user's functions. A panic in it harms nobody else.
func answerWith[P, R any](c *Client, params []byte, f func(P) (R, error)) (text []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			if c.o.Conn.OnPanic != nil {
				c.o.Conn.OnPanic(v, debug.Stack())
			}
			err = &codec.Error{Code: codec.CodeInternal, Message: "internal error"}
		}
	}()
	var p P
	if len(params) > 0 {
		if err := codec.DecodeValue(params, &p); err != nil {
			return nil, &codec.Error{Code: codec.CodeInvalidParams, Message: fmt.Sprintf("invalid params: %v", err)}
		}
	}
	r, err := f(p)
	if err != nil {
		return nil, err
	}
	return codec.AppendValue(nil, r)
}

// namesSubscription reports whether the params of a notification say of which
// subscription it is.
func namesSubscription(params []byte) bool {
	if !bytes.Contains(params, []byte(mcp.MetaSubscriptionID)) {
		return false
	}
	var p struct {
		Meta struct {
			ID json.RawMessage `json:"io.modelcontextprotocol/subscriptionId"`
		} `json:"_meta"`
	}
	return codec.DecodeValue(params, &p) == nil && len(p.Meta.ID) > 0
}

// notified takes a notification that belongs to no call.
func (c *Client) notified(method string, params []byte) {
	if namesSubscription(params) {
		return // of one that has ended: nobody's, not everybody's
	}
	switch method {
	case mcp.NoteMessage:
		if c.o.OnLog != nil {
			var m mcp.MessageParams
			if codec.DecodeValue(params, &m) != nil {
				return // no log line: there is nothing to tell
			}
			level, _ := mcp.ParseLevel([]byte(m.Level))
			c.o.OnLog(mcp.LogMessage{Level: level, Logger: m.Logger, Data: m.Data})
			return
		}
	case mcp.NoteAcknowledged:
		c.subscriptions.unnamed()
	case mcp.NoteToolsChanged, mcp.NotePromptsChanged, mcp.NoteResourcesChanged, mcp.NoteResourceUpdated:
		c.subscriptions.offerAll(method, params)
	}
	if c.o.OnNotification != nil {
		c.o.OnNotification(method, params)
	}
}
