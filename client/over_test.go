package client_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// A connection may be used beside its client, and outlives it.
func TestOver(t *testing.T) {
	d, err := mcp.NewServer(description())
	require.NoError(t, err)
	s, err := serve.New(d, serve.Options{})
	require.NoError(t, err)
	defer s.Close()
	for era, revision := range map[client.Era]mcp.Revision{client.EraAuto: mcp.Modern, client.EraLegacy: mcp.NewestLegacy} {
		cn, err := conn.New(s.InProcess(t.Context()), conn.Options{Profile: codec.MCP})
		require.NoError(t, err)
		c, err := client.Connect(t.Context(), client.Over(cn), client.Options{Era: era})
		require.NoError(t, err)
		require.Equal(t, revision, c.Revision())
		tools, err := c.ListTools(t.Context(), nil, client.CallOptions{})
		require.NoError(t, err)
		require.NotEmpty(t, tools.Tools)

		list := func() error {
			params := []byte(`{}`)
			if meta := c.RequestMeta(); meta != nil {
				params = append(append([]byte(`{"_meta":`), meta...), '}')
			}
			_, err := cn.Call(context.Background(), mcp.MethodListTools, params, conn.CallOptions{})
			return err
		}
		require.Equal(t, era == client.EraLegacy, c.RequestMeta() == nil)
		require.NoError(t, list())
		require.NoError(t, c.Close())
		require.NoError(t, list())
		require.NoError(t, cn.Close())
		require.ErrorIs(t, c.Err(), conn.ErrClosed)
	}
}
