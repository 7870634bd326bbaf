package mcpgo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

const (
	methodDiscover = "server/discover"
	methodListen   = "subscriptions/listen"
	noteCancelled  = "notifications/cancelled"
)

// SendRequest makes a call and waits for its answer. The response carries
// request.ID, whatever id the request had on the wire. request.Header is not used.
func (t *Transport) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	l := t.link.Load()
	if l == nil {
		return nil, t.notStarted()
	}
	params, err := encode(request.Params)
	if err != nil {
		return nil, fmt.Errorf("failed to marshal request: %w", err)
	}
	o, mail := t.callOptions(ctx, l, &request, params.B)
	result, err := l.conn.Call(ctx, request.Method, params.B, o)
	params.put()
	if mail != nil {
		mail.await()
	}
	response := &transport.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, ID: request.ID, Result: result}
	if err == nil {
		return response, nil
	}
	failure, ok := errors.AsType[*codec.Error](err)
	if !ok {
		return nil, failed(ctx, err)
	}
	response.Result, response.Error = nil, details(failure)
	return response, nil
}

// SendNotification queues a notification. notifications/cancelled is not written:
// it names an id that the server does not know, of a call that the connection has
// cancelled by itself when its ctx ended.
func (t *Transport) SendNotification(ctx context.Context, notification mcp.JSONRPCNotification) error {
	l := t.link.Load()
	if l == nil {
		return t.notStarted()
	}
	if notification.Method == noteCancelled {
		if err := ctx.Err(); err != nil {
			return err
		}
		return closedError(l.conn.Err())
	}
	var params encoded
	if notification.Params.Meta != nil || notification.Params.AdditionalFields != nil {
		var err error
		if params, err = encode(notification.Params); err != nil {
			return fmt.Errorf("failed to marshal notification: %w", err)
		}
	}
	defer params.put()
	if err := l.conn.Notify(ctx, notification.Method, params.B); err != nil {
		return failed(ctx, err)
	}
	return nil
}

func (t *Transport) notStarted() error {
	if t.life.Err() != nil {
		return transport.ErrTransportClosed
	}
	return ErrNotStarted
}

// callOptions are those of one request. A mail is nil for most: only a request with
// a progress token, and a subscription, have notifications of their own.
func (t *Transport) callOptions(ctx context.Context, l *link, request *transport.JSONRPCRequest, params []byte) (o conn.CallOptions, m *mail) {
	// The text of either name may stand elsewhere; then the look is in vain.
	if bytes.Contains(params, []byte(`"progressToken"`)) || bytes.Contains(params, []byte(`"task"`)) {
		token, task := marks(params)
		o.NoCancel = task // it is cancelled by tasks/cancel
		if token != nil {
			m = &mail{ctx: ctx, to: l.mailbox, wait: t.o.HandlerWait}
			o.ProgressBuffer, o.Progress = t.o.Buffer, m.progress(token)
		}
	}
	switch request.Method {
	case methodDiscover:
		o.NoCancel = true // nothing is said before the handshake
	case methodListen:
		if m == nil {
			m = &mail{ctx: ctx, to: l.mailbox, wait: t.o.HandlerWait}
		}
		o.Timeout, o.IdleTimeout = conn.NoTimeout, conn.NoTimeout
		o.SubscriptionBuffer, o.Subscription = t.o.Buffer, m.subscription(asRead(request.ID))
	}
	return o, m
}

// marks reads the caller's progress token, nil for none, and whether a task is asked
// for. Params that do not have them in their places go out as they are.
func marks(params []byte) (token any, task bool) {
	var p struct {
		Meta json.RawMessage `json:"_meta"`
		Task json.RawMessage `json:"task"`
	}
	if json.Unmarshal(params, &p) != nil {
		return nil, false
	}
	var meta struct {
		Token any `json:"progressToken"`
	}
	if len(p.Meta) > 0 && json.Unmarshal(p.Meta, &meta) != nil {
		meta.Token = nil
	}
	return meta.Token, len(p.Task) > 0 && string(p.Task) != "null"
}

// asRead is an id as the reader of its JSON text sees it.
func asRead(id mcp.RequestId) any {
	text, err := json.Marshal(id)
	if err != nil {
		return id.Value()
	}
	var v any
	if json.Unmarshal(text, &v) != nil {
		return id.Value()
	}
	return v
}
