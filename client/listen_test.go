package client_test

import (
	"context"
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
