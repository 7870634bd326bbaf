package client_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
)

const (
	acked     = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":ID},"notifications":{"toolsListChanged":true}}}`
	ackedNone = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":ID},"notifications":{}}}`
	unnamed   = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true}}}`
	malformed = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":ID},"notifications":7}}`
	changed   = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":ID}}}`
	ended     = `{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":ID}}}`
	cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID}}`
	comment   = `{"jsonrpc":"2.0","method":"notifications/own"}` // makes two frames of one, which over HTTP are events
)

// How a subscription begins and ends, in every order that real servers have.
func TestListenEdges(t *testing.T) {
	for _, c := range []struct {
		name   string
		frames []string
		listen error // of Listen
		next   error // of Next behind the changes
		change int   // how many are told
	}{
		{name: "acknowledged and ended at once", frames: []string{ackedNone, ended}, next: client.ErrSubscriptionEnded},
		{name: "ended by a cancel", frames: []string{acked, changed, cancelled}, next: client.ErrSubscriptionEnded, change: 1},
		{name: "ended by an answer, then a cancel", frames: []string{acked, changed, ended, cancelled}, next: client.ErrSubscriptionEnded, change: 1},
		{name: "ended by a cancel, then an answer", frames: []string{acked, cancelled, ended}, next: client.ErrSubscriptionEnded},
		{name: "ended before it was acknowledged", frames: []string{comment, ended}, listen: conn.ErrInvalidAnswer},
		{name: "cancelled before it was acknowledged", frames: []string{comment, cancelled}, listen: conn.ErrInvalidAnswer},
		{name: "acknowledged without an id", frames: []string{comment, unnamed}, listen: conn.ErrInvalidAnswer},
		{name: "acknowledged with nonsense", frames: []string{comment, malformed}, listen: conn.ErrInvalidAnswer},
		{name: "refused", frames: []string{comment, refusal(`{"code":-32602,"message":"no"}`)}, listen: &codec.Error{Code: -32602}},
		{name: "acknowledged twice", frames: []string{acked, ackedNone, changed, ended}, next: client.ErrSubscriptionEnded, change: 1},
		{name: "changes that come twice are merged", frames: []string{acked, changed, changed, changed, ended}, next: client.ErrSubscriptionEnded, change: 1},
		{name: "a change before the acknowledgement", frames: []string{changed, acked, ended}, next: client.ErrSubscriptionEnded, change: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modern(func(m message) []string {
				switch {
				case m.Method == mcp.MethodListen:
					return append([]string(nil), c.frames...)
				case len(m.ID) > 0:
					return []string{`{"jsonrpc":"2.0","id":ID,"result":{}}`}
				}
				return nil
			})
			scripted(t, s, client.Options{}, func(t *testing.T, cl *client.Client) {
				sub, err := cl.Listen(t.Context(), mcp.ListenFilter{ToolsListChanged: true}, client.CallOptions{})
				if c.listen != nil {
					require.ErrorIs(t, err, c.listen)
				} else {
					require.NoError(t, err)
					told := 0
					for {
						var n mcp.Notification
						if n, err = sub.Next(t.Context()); err != nil {
							break
						}
						require.Equal(t, mcp.ToolsChanged, n.Kind)
						told++
					}
					require.ErrorIs(t, err, c.next)
					if c.change > 0 { // Next may take a change before an equal one comes
						require.GreaterOrEqual(t, told, c.change)
					} else {
						require.Zero(t, told)
					}
					require.NoError(t, sub.Close())
				}
				_, err = cl.Call(t.Context(), "own", nil, client.CallOptions{})
				require.NoError(t, err, "the end of a subscription is that of nothing else")
			})
		})
	}
}

// A subscription whose stream breaks has not ended regularly.
func TestListenStreamBreaks(t *testing.T) {
	s := modern(func(m message) []string { return []string{acked, changed} })
	c, err := client.Connect(t.Context(), scriptedHTTP(t, s), client.Options{Eras: &client.Eras{}})
	require.NoError(t, err)
	defer c.Close()
	sub, err := c.Listen(t.Context(), mcp.ListenFilter{ToolsListChanged: true}, client.CallOptions{})
	require.NoError(t, err)
	_, err = sub.Next(t.Context())
	require.NoError(t, err)
	_, err = sub.Next(t.Context())
	require.ErrorIs(t, err, client.ErrNoAnswer)
	require.NotErrorIs(t, err, client.ErrSubscriptionEnded)
}

// Who closes a subscription tells the server, once; who waits in vain for the
// acknowledgement too.
func TestListenCloseTellsTheServerOnce(t *testing.T) {
	for _, open := range []func(*testing.T, script) client.Transport{scriptedStream, scriptedChild} {
		// Each server has its own count: the one before may read to its end still.
		var cancels atomic.Int32
		var silent atomic.Bool
		s := modern(func(m message) []string {
			switch {
			case m.Method == mcp.MethodListen && silent.Load():
				return nil
			case m.Method == mcp.MethodListen:
				return []string{acked}
			case m.Method == mcp.NoteCancelled && strings.Contains(string(m.Params), `"requestId":`):
				cancels.Add(1)
			case len(m.ID) > 0:
				return []string{`{"jsonrpc":"2.0","id":ID,"result":{}}`}
			}
			return nil
		})
		c, err := client.Connect(t.Context(), open(t, s), client.Options{Eras: &client.Eras{}})
		require.NoError(t, err)
		sub, err := c.Listen(t.Context(), mcp.ListenFilter{ToolsListChanged: true}, client.CallOptions{})
		require.NoError(t, err)
		for range 3 {
			require.NoError(t, sub.Close())
		}
		require.Eventually(t, func() bool { return cancels.Load() == 1 }, eventually, tick)
		silent.Store(true)
		_, err = c.Listen(t.Context(), mcp.ListenFilter{}, client.CallOptions{Timeout: 10 * time.Millisecond})
		require.ErrorIs(t, err, conn.ErrTimeout)
		require.Eventually(t, func() bool { return cancels.Load() == 2 }, eventually, tick)
		ctx, stop := context.WithCancel(t.Context())
		stop()
		_, err = c.Listen(ctx, mcp.ListenFilter{}, client.CallOptions{})
		require.ErrorIs(t, err, context.Canceled)
		_, err = c.Call(t.Context(), "own", nil, client.CallOptions{})
		require.NoError(t, err)
		require.LessOrEqual(t, cancels.Load(), int32(3), "one for each that was begun")
		require.NoError(t, c.Close())
	}
}
