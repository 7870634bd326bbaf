package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/gateway/link"
	"github.com/correlator-go/correlator/mcp"
)

// greeting is what a server and the gateway agreed on. The handshake is made once for
// each way to a server; clients that initialize are answered from it.
type greeting struct {
	// params are those of initialize: of the one client that uses the way, or nil for
	// the gateway's own.
	params []byte
	result []byte       // of the server, nil if it refused
	failed *codec.Error // the server's refusal of initialize
}

// Implementation is how the gateway names itself to servers that many clients share.
const Implementation = "correlator-gateway"

// ownGreeting claims nothing: what clients can do differs from one to the next.
var ownGreeting = []byte(`{"protocolVersion":"` + string(mcp.NewestLegacy) + `","capabilities":{},"clientInfo":{"name":"` + Implementation + `","version":"1"}}`)

// hear keeps what the client of a way of its own says of itself. b.mu is held.
func (g *greeting) hear(b *backend, c *call, m *codec.Message) {
	if b.session != nil && g.params == nil && c.method == mcp.MethodInitialize {
		g.params = append([]byte(nil), m.Params()...)
	}
}

// greet answers a client's initialize.
func (b *backend) greet(burst *link.Burst, c *call) {
	b.mu.Lock()
	result, failed := b.greeting.result, b.greeting.failed
	b.mu.Unlock()
	switch {
	case c.giveUp.Load() != nil:
		c.over.Store(true)
		c.stop(c.giveUp.Load().err)
	case failed != nil:
		c.end(burst, Failed, nil, failed)
	default:
		c.end(burst, Answered, result, nil)
	}
}

// shake makes the handshake of the older era. A server that refuses it speaks the
// modern one, which has none.
func (b *backend) shake(ctx context.Context, l *life) error {
	b.mu.Lock()
	params := b.greeting.params
	b.mu.Unlock()
	if params == nil {
		params = ownGreeting
	}
	result, err := b.ask(ctx, l, mcp.MethodInitialize, params)
	refused, isRefused := errors.AsType[*codec.Error](err)
	if err != nil && !isRefused {
		return fmt.Errorf("initialize: %w", err)
	}
	b.mu.Lock()
	b.greeting.result, b.greeting.failed = result, refused
	b.mu.Unlock()
	if isRefused {
		return nil
	}
	return l.up.Send(&link.Frame{Bytes: codec.AppendNotification(nil, mcp.NoteInitialized, nil), Class: link.Ask}, nil)
}

// ask makes a call of the gateway's own over l. The result is the caller's.
func (b *backend) ask(ctx context.Context, l *life, method string, params []byte) ([]byte, error) {
	type reply struct {
		result []byte
		err    error
	}
	answered := make(chan reply, 1)
	begun, err := b.engine.Begin(ctx, engine.CallOptions[*arrival]{Method: method, NoWait: true, Notify: func(o engine.Outcome[*arrival]) {
		if o.Status != engine.Resolved {
			answered <- reply{err: o.Err}
			return
		}
		m, _ := o.Value.take()
		defer o.Value.done()
		if m.Kind == codec.KindError {
			answered <- reply{err: m.Err()}
			return
		}
		answered <- reply{result: append([]byte(nil), m.Result()...)}
	}})
	if err != nil {
		return nil, err
	}
	id := begun.ID()
	if number, ok := id.Int(); ok {
		frame := codec.AppendRequest(nil, id, method, params)
		if err := l.up.Send(&link.Frame{Bytes: frame, Call: number, Class: link.Ask}, nil); err != nil {
			b.engine.Reject(id, err)
		}
	}
	select {
	case r := <-answered:
		return r.result, r.err
	case <-ctx.Done():
		b.engine.Cancel(id, context.Cause(ctx))
		r := <-answered
		return r.result, r.err
	}
}
