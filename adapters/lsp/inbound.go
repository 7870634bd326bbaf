package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

const methodProgress = "$/progress"

// handle takes what the server asks and notifies. It runs on the connection's reader,
// so it only passes on.
func (c *Client) handle(ctx context.Context, r *conn.Inbound) {
	if r.IsNotification() {
		c.notified(r)
		return
	}
	handler := c.o.OnRequest[r.Method()]
	if handler == nil {
		handler = c.byItself(r.Method())
	}
	if handler == nil {
		handler = c.o.OnRequest[""]
	}
	if handler == nil {
		handler = refuse
	}
	r.Detach()
	params := json.RawMessage(bytes.Clone(r.Params()))
	go c.answer(ctx, r, handler, params)
}

// notified takes progress to its call, and other notifications to the queue.
func (c *Client) notified(r *conn.Inbound) {
	if r.Method() == methodProgress && c.progressed(r.Params()) {
		return
	}
	handler := c.o.OnNotification[r.Method()]
	if handler == nil {
		handler = c.o.OnNotification[""]
	}
	if handler == nil || c.notes.put(note{r.Method(), bytes.Clone(r.Params()), handler}) {
		return
	}
	c.counts.notesDropped.Add(1)
	if c.o.Conn.OnStray != nil {
		frame := r.Message().Frame()
		c.o.Conn.OnStray(conn.Stray{Reason: conn.StrayNotification, Frame: frame[:min(len(frame), conn.StrayBytes)], Size: len(frame)})
	}
}

// progressed takes a value to the call that it belongs to; false says that the token is
// of none.
func (c *Client) progressed(params []byte) bool {
	var p struct {
		Token any             `json:"token"`
		Value json.RawMessage `json:"value"`
	}
	if codec.DecodeValue(params, &p) != nil {
		return false
	}
	token, ok := p.Token.(string)
	if !ok || !ours(token) {
		return false
	}
	if s := c.streams.find(token); s == nil || !s.put(token, p.Value) {
		c.counts.progressLate.Add(1)
	}
	return true
}

func refuse(context.Context, json.RawMessage) (any, error) {
	return nil, &codec.Error{Code: codec.CodeMethodNotFound, Message: "method not found"}
}

// answer runs the handler of a request and sends what it returns.
func (c *Client) answer(ctx context.Context, r *conn.Inbound, handler RequestHandler, params json.RawMessage) {
	failure := wireError(errors.New("the handler failed"))
	var result json.RawMessage
	defer func() { c.reply(ctx, r, result, failure) }() // also when the handler ends the goroutine
	c.guard(func() {
		value, err := handler(ctx, params)
		if err == nil {
			if result, err = encode(value); err == nil {
				failure = nil
				return
			}
		}
		failure = wireError(err)
	})
}

// reply sends an answer. It waits for room, which Reply does not beside Inline.
func (c *Client) reply(ctx context.Context, r *conn.Inbound, result json.RawMessage, e *codec.Error) {
	send := func() error { return r.Reply(result) }
	if e != nil {
		send = func() error { return r.ReplyError(e) }
	}
	err := send()
	for errors.Is(err, conn.ErrFull) && r.Conn().Flush(ctx) == nil {
		err = send()
	}
	if err != nil && !errors.Is(err, conn.ErrAnswered) && !errors.Is(err, conn.ErrClosed) {
		c.failed(r.Method(), err)
	}
}

// failed tells OnError.
func (c *Client) failed(method string, err error) {
	if c.o.OnError != nil {
		c.o.OnError(method, err)
	}
}

// guard keeps a panic of f from the program.
func (c *Client) guard(f func()) {
	defer func() {
		if v := recover(); v != nil {
			c.counts.panics.Add(1)
			if c.o.Conn.OnPanic != nil {
				c.o.Conn.OnPanic(v, debug.Stack())
			}
		}
	}()
	f()
}
