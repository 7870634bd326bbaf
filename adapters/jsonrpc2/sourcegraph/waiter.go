package sourcegraph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// Waiter stands for a call that goes on. Its methods are safe for concurrent use.
type Waiter struct{ *pending }

// pending is one call that was dispatched.
type pending struct {
	conn    *Conn
	request *jsonrpc2.Request // for the hooks; nil without any
	done    chan struct{}     // closed when value and err are set
	then    func(*pending)    // runs before done is closed; nil for nothing
	value   []byte
	err     error

	mu      sync.Mutex // protects the fields below
	id      codec.ID   // absent until Start has returned
	settles bool       // the outcome was there first: begun finishes the call
}

// ID is the call's id on the wire.
func (w Waiter) ID() jsonrpc2.ID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return theirID(w.id)
}

// Wait waits for the answer, and decodes the result into what result points to,
// unless that is nil. Errors are those of Call. When ctx ends first the call goes
// on, and can be waited for again; Cancel ends it.
func (w Waiter) Wait(ctx context.Context, result any) error {
	select {
	case <-w.done:
	default:
		select {
		case <-w.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if w.err != nil {
		return failure(ctx, w.err)
	}
	if _, raw := result.(*json.RawMessage); raw {
		return decode(bytes.Clone(w.value), result) // another Wait may take it too
	}
	return decode(w.value, result)
}

// Cancel gives the call up, unless it has ended: Wait then returns
// context.Canceled.
func (w Waiter) Cancel() {
	w.mu.Lock()
	id := w.id
	w.mu.Unlock()
	w.conn.conn.Cancel(id, context.Canceled)
}

// settled takes the outcome, perhaps before Start has returned.
func (p *pending) settled(o conn.Outcome) {
	p.value, p.err = bytes.Clone(o.Value), o.Err
	if errors.Is(o.Err, conn.ErrCancelled) {
		p.err = context.Canceled
	}
	p.mu.Lock()
	first := p.id.IsAbsent()
	p.settles = first
	p.mu.Unlock()
	if !first || p.request == nil {
		p.finish()
	}
}

// begun tells the hooks that the request was sent, and that it was answered if it
// was already: so they see both in this order.
func (p *pending) begun(id codec.ID) {
	if p.request != nil {
		p.request.ID = theirID(id)
		p.conn.onSend(p.request, nil)
	}
	p.mu.Lock()
	p.id = id
	finish := p.settles && p.request != nil
	p.mu.Unlock()
	if finish {
		p.finish()
	}
}

// finish tells the hooks of the answer, and the waiters.
func (p *pending) finish() {
	if p.request != nil {
		resp := &jsonrpc2.Response{ID: p.request.ID}
		if e, ok := errors.AsType[*codec.Error](p.err); ok {
			resp.Error = theirError(e)
		} else if p.err == nil {
			value := json.RawMessage(p.value)
			resp.Result = &value
		}
		if resp.Error != nil || resp.Result != nil {
			p.conn.onRecv(p.request, resp)
		}
	}
	if p.then != nil {
		p.then(p)
	}
	close(p.done)
}
