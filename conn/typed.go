package conn

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/correlator-go/correlator/codec"
)

// Caller is what typed calls are made through: a *Conn, a *Redialer.
type Caller interface {
	Call(ctx context.Context, method string, params []byte, o CallOptions) ([]byte, error)
}

// Call makes a call with typed params and a typed result. Nil params are left
// out; json.RawMessage goes out, and comes in, as it is. The params are encoded
// into a pooled buffer.
//
// An error in encoding params means that nothing was sent; one in decoding the
// result wraps ErrInvalidAnswer.
func Call[R any](ctx context.Context, c Caller, method string, params any, o CallOptions) (R, error) {
	var result R
	raw, err := callRaw(ctx, c, method, params, o)
	if err != nil {
		return result, err
	}
	if p, ok := any(&result).(*json.RawMessage); ok {
		*p = raw
		return result, nil
	}
	if err := codec.DecodeValue(raw, &result); err != nil {
		return result, &invalidAnswer{err}
	}
	return result, nil
}

func callRaw(ctx context.Context, c Caller, method string, params any, o CallOptions) ([]byte, error) {
	switch p := params.(type) {
	case nil:
		return c.Call(ctx, method, nil, o)
	case json.RawMessage:
		return c.Call(ctx, method, p, o)
	}
	buf, err := codec.EncodeValue(params)
	if err != nil {
		return nil, unsent(method, fmt.Errorf("params: %w", err))
	}
	defer codec.PutValue(buf)
	return c.Call(ctx, method, buf.B, o)
}
