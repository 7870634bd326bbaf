package sourcegraph_test

// The code of docs/coming-from/sourcegraph-jsonrpc2.md.

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/script"
	"github.com/correlator-go/correlator/adapters/jsonrpc2/sourcegraph"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

func itsOwn(ctx context.Context, stream net.Conn, h jsonrpc2.Handler) jsonrpc2.JSONRPC2 {
	c := jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(stream, jsonrpc2.VSCodeObjectCodec{}), h)
	return c
}

func overOurs(ctx context.Context, stream net.Conn, h jsonrpc2.Handler) jsonrpc2.JSONRPC2 {
	c := sourcegraph.NewConn(ctx, sourcegraph.NewBufferedStream(stream, jsonrpc2.VSCodeObjectCodec{}), h)
	return c
}

func withOptions(ctx context.Context, stream net.Conn, h jsonrpc2.Handler, logger jsonrpc2.Logger) *sourcegraph.Conn {
	c := sourcegraph.NewConn(ctx, sourcegraph.NewBufferedStream(stream, jsonrpc2.VSCodeObjectCodec{}), h,
		sourcegraph.SetLogger(logger),
		sourcegraph.With(conn.Options{
			Profile:   codec.LSP,        // a call that is given up is cancelled by $/cancelRequest
			Timeout:   30 * time.Second, // of every call, without a context
			KeepAlive: 10 * time.Second, // notices a peer that hangs
		}))
	return c
}

// kind branches as programs do today.
func kind(err error) string {
	switch e, ok := errors.AsType[*jsonrpc2.Error](err); {
	case ok && e.Code == jsonrpc2.CodeMethodNotFound:
		return "not there"
	case ok:
		return "refused"
	case err == jsonrpc2.ErrClosed:
		return "gone"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, conn.ErrTimeout):
		return "late"
	case err != nil:
		return "else"
	}
	return "fine"
}

func TestComingFrom(t *testing.T) {
	for name, open := range map[string]func(context.Context, net.Conn, jsonrpc2.Handler) jsonrpc2.JSONRPC2{
		"theirs": itsOwn, "ours": overOurs,
		"options": func(ctx context.Context, c net.Conn, h jsonrpc2.Handler) jsonrpc2.JSONRPC2 {
			return withOptions(ctx, c, h, logger(func(string) {}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := script.Pair(t)
			release := make(chan struct{})
			defer close(release)
			s := itsOwn(t.Context(), far, serving(release))
			c := open(t.Context(), near, asked(nil))
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			require.Equal(t, "late", kind(c.Call(ctx, "held", nil, nil)))
			require.Equal(t, "fine", kind(c.Call(t.Context(), "echo", []int{1}, nil)))
			require.Equal(t, "refused", kind(c.Call(t.Context(), "fail", nil, nil)))
			require.Equal(t, "not there", kind(c.Call(t.Context(), "other", nil, nil)))
			require.NoError(t, s.Close())
			script.Get(t, c.(client).DisconnectNotify())
			require.Equal(t, "gone", kind(c.Call(t.Context(), "echo", nil, nil)))
		})
	}
}
