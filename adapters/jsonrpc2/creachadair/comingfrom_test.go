package creachadair_test

// The code of docs/coming-from/jrpc2.md.

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/creachadair/jrpc2/handler"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/creachadair"
	"github.com/correlator-go/correlator/adapters/jsonrpc2/internal/script"
	"github.com/correlator-go/correlator/conn"
)

func itsOwn(stream net.Conn, onNotify func(*jrpc2.Request)) *jrpc2.Client {
	cli := jrpc2.NewClient(channel.Line(stream, stream), &jrpc2.ClientOptions{OnNotify: onNotify})
	return cli
}

func overOurs(stream net.Conn, onNotify func(*jrpc2.Request)) *creachadair.Client {
	cli := creachadair.NewClient(creachadair.Line(stream, stream), &creachadair.ClientOptions{OnNotify: onNotify})
	return cli
}

func withOptions(stream net.Conn, confirm func(context.Context, []string) (bool, error)) *creachadair.Client {
	cli := creachadair.NewClient(creachadair.Line(stream, stream), &creachadair.ClientOptions{
		OnCallback: handler.New(confirm), // as it was
		OnCancel: func(cli *creachadair.Client, rsp *creachadair.Response) {
			_ = cli.Notify(context.Background(), "cancel", []string{rsp.ID()})
		},
		Conn: conn.Options{
			Timeout:   30 * time.Second, // of every call, without a context
			KeepAlive: 10 * time.Second, // notices a server that hangs
		},
	})
	return cli
}

// kind branches as programs do today.
func kind(err error) string {
	switch e, ok := errors.AsType[*jrpc2.Error](err); {
	case ok && e.Code == jrpc2.MethodNotFound:
		return "not there"
	case ok:
		return "refused"
	case errors.Is(err, context.DeadlineExceeded):
		return "late"
	case errors.Is(err, context.Canceled):
		return "given up, or stopped meanwhile"
	case err != nil:
		return "stopped"
	}
	return "fine"
}

func TestComingFrom(t *testing.T) {
	for name, open := range map[string]func(net.Conn) client{
		"theirs": func(c net.Conn) client { return itsOwn(c, nil) },
		"ours":   func(c net.Conn) client { return overOurs(c, nil) },
		"options": func(c net.Conn) client {
			return withOptions(c, func(context.Context, []string) (bool, error) { return true, nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := script.Pair(t)
			release := make(chan struct{})
			s := jrpc2.NewServer(methods(release, nil), &jrpc2.ServerOptions{AllowPush: true}).Start(channel.Line(far, far))
			c := open(near)
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			require.Equal(t, "late", kind(c.CallResult(ctx, "held", nil, nil)))
			require.Equal(t, "fine", kind(c.CallResult(t.Context(), "sum", pairArgs{1, 2}, new(int))))
			require.Equal(t, "refused", kind(c.CallResult(t.Context(), "fail", nil, nil)))
			require.Equal(t, "not there", kind(c.CallResult(t.Context(), "other", nil, nil)))
			var answer string
			if name == "options" {
				require.NoError(t, c.CallResult(t.Context(), "ask", []string{"sure?"}, &answer))
				require.Equal(t, "true", answer)
			}
			close(release)
			s.Stop()
			_ = s.Wait()
			stopped := make(chan struct{})
			go func() {
				for kind(c.CallResult(t.Context(), "sum", nil, new(int))) != "stopped" {
				}
				close(stopped)
			}()
			script.Get(t, stopped)
			require.NoError(t, c.Close())
		})
	}
}
