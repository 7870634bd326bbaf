package gateway

import (
	"context"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/gateway/link"
)

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
