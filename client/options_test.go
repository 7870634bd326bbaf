package client_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// optionOf is the option that err refuses.
func optionOf(t *testing.T, err error) string {
	t.Helper()
	e, ok := errors.AsType[*client.OptionError](err)
	require.True(t, ok, "%v", err)
	return e.Field
}

// Values that mean nothing are refused before anything is opened.
func TestConnectRefusesBadOptions(t *testing.T) {
	way := client.HTTP{Endpoint: "http://127.0.0.1:1"} // nobody listens there
	for field, options := range map[string][]client.Options{
		"Era":    {{Era: client.EraLegacy + 1}},
		"Legacy": {{Legacy: "2031-01-01"}, {Legacy: mcp.Modern}, {Legacy: "2024-01-01", Era: client.EraLegacy}},
	} {
		for _, o := range options {
			_, err := client.Connect(t.Context(), way, o)
			require.Equal(t, field, optionOf(t, err))
		}
	}
}

// A level without a name is no level, in either era.
func TestCallsRefuseUnknownLevels(t *testing.T) {
	about := description()
	about.Logging = true
	d, err := mcp.NewServer(about)
	require.NoError(t, err)
	s, err := serve.New(d, serve.Options{})
	require.NoError(t, err)
	defer s.Close()
	for _, o := range []client.Options{{}, {Era: client.EraLegacy, Legacy: mcp.Revision20250326}} {
		link, err := conn.New(s.InProcess(t.Context()), conn.Options{Profile: codec.MCP})
		require.NoError(t, err)
		defer link.Close()
		c, err := client.Connect(t.Context(), client.Over(link), o)
		require.NoError(t, err)
		_, err = c.ListTools(t.Context(), nil, client.CallOptions{LogLevel: mcp.LevelEmergency + 1})
		require.Equal(t, "LogLevel", optionOf(t, err))
		_, err = c.ListTools(t.Context(), nil, client.CallOptions{LogLevel: mcp.LevelEmergency})
		require.NoError(t, err)
		if o.Era == client.EraAuto {
			continue // has no SetLevel
		}
		for _, level := range []mcp.Level{mcp.LevelNone, mcp.LevelEmergency + 1} {
			require.Equal(t, "level", optionOf(t, c.SetLevel(t.Context(), level)))
		}
		require.NoError(t, c.SetLevel(t.Context(), mcp.LevelError))
		require.NoError(t, c.Close())
	}
}
