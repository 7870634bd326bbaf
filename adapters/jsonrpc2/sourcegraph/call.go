package sourcegraph

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// Call is (*jsonrpc2.Conn).Call: it makes a call, waits, and decodes the result
// into what result points to, unless that is nil. When ctx ends the call is given up.
//
// Errors: *jsonrpc2.Error of the peer, jsonrpc2.ErrClosed, the error of ctx, an
// error of encoding or decoding; with limits that With sets, conn.ErrTimeout and the
// others of package conn.
func (c *Conn) Call(ctx context.Context, method string, params, result any, opts ...jsonrpc2.CallOption) error {
	if c.conn == nil {
		return jsonrpc2.ErrClosed
	}
	if len(opts) > 0 || c.hooked() {
		w, err := c.DispatchCall(ctx, method, params, opts...)
		if err != nil {
			return err
		}
		err = w.Wait(ctx, result)
		w.Cancel() // if it is still pending
		return err
	}
	text, err := encode(params)
	if err != nil {
		return err
	}
	value, err := c.conn.Call(ctx, method, text.bytes(), conn.CallOptions{})
	text.free()
	if err != nil {
		return failure(ctx, err)
	}
	return decode(value, result)
}

// Notify is (*jsonrpc2.Conn).Notify: it queues a notification.
func (c *Conn) Notify(ctx context.Context, method string, params any, opts ...jsonrpc2.CallOption) error {
	if c.conn == nil {
		return jsonrpc2.ErrClosed
	}
	if len(opts) > 0 {
		m, err := c.probe().notification(ctx, method, params, opts)
		if err != nil {
			return err
		}
		return c.notify(ctx, m)
	}
	text, err := encode(params)
	if err != nil {
		return err
	}
	defer text.free()
	return c.notify(ctx, message{method: method, params: text.bytes(), notif: true})
}

func (c *Conn) notify(ctx context.Context, m message) error {
	if err := c.conn.Notify(ctx, m.method, m.params); err != nil {
		return failure(ctx, err)
	}
	if c.hooked() {
		c.onSend(m.request(), nil)
	}
	return nil
}

// DispatchCall is (*jsonrpc2.Conn).DispatchCall: it makes a call and returns
// without waiting for the answer.
func (c *Conn) DispatchCall(ctx context.Context, method string, params any, opts ...jsonrpc2.CallOption) (Waiter, error) {
	if c.conn == nil {
		return Waiter{}, jsonrpc2.ErrClosed
	}
	if len(opts) > 0 {
		m, err := c.probe().call(ctx, method, params, opts)
		if err != nil {
			return Waiter{}, err
		}
		return c.dispatch(ctx, m, nil)
	}
	text, err := encode(params)
	if err != nil {
		return Waiter{}, err
	}
	defer text.free()
	return c.dispatch(ctx, message{method: method, params: text.bytes()}, nil)
}

// dispatch makes a call. Its ctx counts while it waits for room; what ends the call
// is Cancel. then, if there is one, runs when it has ended, and must not block.
func (c *Conn) dispatch(ctx context.Context, m message, then func(*pending)) (Waiter, error) {
	p := &pending{conn: c, done: make(chan struct{}), then: then}
	if c.hooked() {
		p.request = m.request()
	}
	id, err := c.conn.Start(noDeadline{ctx}, m.method, m.params, conn.CallOptions{}, p.settled)
	if err != nil {
		return Waiter{}, failure(ctx, err)
	}
	p.begun(id)
	return Waiter{p}, nil
}

// noDeadline ends as the context does, and does not tell when.
type noDeadline struct{ context.Context }

func (noDeadline) Deadline() (time.Time, bool) { return time.Time{}, false }

// hooked reports whether somebody wants to see the messages.
func (c *Conn) hooked() bool { return len(c.o.onSend) > 0 || len(c.o.onRecv) > 0 }

func (c *Conn) onSend(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	for _, f := range c.o.onSend {
		f(req, resp)
	}
}

func (c *Conn) onRecv(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	for _, f := range c.o.onRecv {
		f(req, resp)
	}
}

// decode is json.Unmarshal into result. A *json.RawMessage takes value over.
func decode(value []byte, result any) error {
	switch into := result.(type) {
	case nil:
		return nil
	case *json.RawMessage:
		if into == nil {
			return errors.New("sourcegraph: result is a nil *json.RawMessage")
		}
		*into = value
		return nil
	}
	return codec.DecodeValue(value, result)
}
