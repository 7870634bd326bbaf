package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

func TestListen(t *testing.T) {
	everywhere(t, client.Options{}, func(t *testing.T, c *client.Client, s *serve.Server) {
		want := mcp.ListenFilter{ToolsListChanged: true, ResourceSubscriptions: []string{"note://one"}}
		sub, err := c.Listen(t.Context(), want, client.CallOptions{})
		require.NoError(t, err)
		require.True(t, sub.Granted().ToolsListChanged)
		require.Equal(t, []string{"note://one"}, sub.Granted().ResourceSubscriptions)

		s.Notify(mcp.Notification{Kind: mcp.ToolsChanged})
		n, err := sub.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, mcp.ToolsChanged, n.Kind)
		s.Notify(mcp.Notification{Kind: mcp.ResourceUpdated, URI: "note://one"})
		n, err = sub.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, mcp.Notification{Kind: mcp.ResourceUpdated, URI: "note://one"}, n)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = sub.Next(ctx)
		require.ErrorIs(t, err, context.Canceled)

		other, err := c.Listen(t.Context(), mcp.ListenFilter{ToolsListChanged: true}, client.CallOptions{})
		require.NoError(t, err)
		require.NoError(t, sub.Close())
		require.NoError(t, sub.Close())
		_, err = sub.Next(t.Context())
		require.ErrorIs(t, err, client.ErrSubscriptionEnded)
		s.Notify(mcp.Notification{Kind: mcp.ToolsChanged})
		_, err = other.Next(t.Context())
		require.NoError(t, err, "the end of one is not that of another")

		require.NoError(t, c.Close())
		_, err = other.Next(t.Context())
		require.Error(t, err)
	})
}

// A modern server must name the subscription of a change. One that does not means
// all subscriptions that asked for such changes, and no others.
func TestListenUnnamedChange(t *testing.T) {
	s := modern(func(m message) []string {
		if m.Method == mcp.MethodListen {
			var p struct {
				Notifications json.RawMessage `json:"notifications"`
			}
			_ = json.Unmarshal(m.Params, &p)
			return []string{`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":` + string(p.Notifications) +
				`,"_meta":{"io.modelcontextprotocol/subscriptionId":ID}}}`}
		}
		return []string{
			`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`,
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
			`{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","content":[]}}`,
		}
	})
	c, err := client.Connect(t.Context(), scriptedStream(t, s), client.Options{Eras: &client.Eras{}})
	require.NoError(t, err)
	defer c.Close()
	tools, err := c.Listen(t.Context(), mcp.ListenFilter{ToolsListChanged: true}, client.CallOptions{})
	require.NoError(t, err)
	watch, err := c.Listen(t.Context(), mcp.ListenFilter{ResourceSubscriptions: []string{"note://one"}}, client.CallOptions{})
	require.NoError(t, err)
	_, err = c.CallTool(t.Context(), "change", nil, client.CallOptions{})
	require.NoError(t, err)
	n, err := tools.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, mcp.Notification{Kind: mcp.ToolsChanged}, n)
	for _, sub := range []*client.Subscription{tools, watch} {
		require.NoError(t, sub.Close())
		_, err = sub.Next(t.Context())
		require.ErrorIs(t, err, client.ErrSubscriptionEnded, "it was told of what it had not asked for")
	}
}

// A change that names a subscription which has ended is nobody's.
func TestListenChangeOfEndedSubscription(t *testing.T) {
	var first atomic.Value
	c := endpoint(t, client.Options{}, func(w http.ResponseWriter, r *http.Request, m message) {
		w.Header().Set("Content-Type", "text/event-stream")
		if m.Method == mcp.MethodListen {
			first.CompareAndSwap(nil, string(m.ID))
			_, _ = fmt.Fprintf(w, "data: %s\n\n", strings.ReplaceAll(acked, "ID", string(m.ID)))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", strings.ReplaceAll(changed, "ID", first.Load().(string)))
		_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"resultType\":\"complete\",\"content\":[]}}\n\n", m.ID)
	})
	ended, err := c.Listen(t.Context(), mcp.ListenFilter{ToolsListChanged: true}, client.CallOptions{})
	require.NoError(t, err)
	open, err := c.Listen(t.Context(), mcp.ListenFilter{ToolsListChanged: true}, client.CallOptions{})
	require.NoError(t, err)
	require.NoError(t, ended.Close())
	for range 10 { // the first may still find the feed of the one that is ending
		_, err = c.CallTool(t.Context(), "change", nil, client.CallOptions{})
		require.NoError(t, err)
	}
	require.NoError(t, open.Close())
	_, err = open.Next(t.Context())
	require.ErrorIs(t, err, client.ErrSubscriptionEnded)
}
