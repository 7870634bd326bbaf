package interop

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// modern adds to params what every request of the era of 2026-07-28 carries.
func modern(params map[string]any) map[string]any {
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}
	return params
}

// Without any handshake: discover, list, a thousand calls, progress.
func TestGoSDKServerModern(t *testing.T) {
	c, err := conn.New(newWorkshop().serve(t), conn.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })

	found, err := conn.Call[struct{ SupportedVersions []string }](t.Context(), c, "server/discover", modern(map[string]any{}), conn.CallOptions{})
	require.NoError(t, err)
	require.True(t, slices.Contains(found.SupportedVersions, "2026-07-28"), "%v", found.SupportedVersions)

	_, err = conn.Call[json.RawMessage](t.Context(), c, "tools/call", modern(call("no such tool", numbered{})), conn.CallOptions{})
	refused, ok := errors.AsType[*codec.Error](err)
	require.True(t, ok, "%v", err)
	require.EqualValues(t, codec.CodeInvalidParams, refused.Code)
	require.Contains(t, refused.Message, "no such tool")

	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			_, err := conn.Call[toolResult](t.Context(), c, "tools/call", modern(call("gather", numbered{N: i, Of: 1000})), conn.CallOptions{})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()

	var last float64
	_, err = conn.Call[toolResult](t.Context(), c, "tools/call", modern(call("steps", numbered{N: 10})), conn.CallOptions{
		Progress: func(p conn.Progress) {
			if report, err := p.Report(); err == nil {
				last = report.Progress
			}
		},
	})
	require.NoError(t, err)
	require.Equal(t, 10.0, last)
}

// A subscription gets its acknowledgement and its events, and ends when it is
// cancelled.
func TestGoSDKServerSubscription(t *testing.T) {
	w := newWorkshop()
	c, err := conn.New(w.serve(t), conn.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	notes := make(chan string, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Call[json.RawMessage](ctx, c, "subscriptions/listen",
			modern(map[string]any{"notifications": map[string]any{"toolsListChanged": true}}),
			conn.CallOptions{Timeout: -1, Subscription: func(n conn.Notification) { notes <- n.Method }})
		ended <- err
	}()
	require.Equal(t, "notifications/subscriptions/acknowledged", <-notes)
	mcp.AddTool(w.server, &mcp.Tool{Name: "new"}, func(context.Context, *mcp.CallToolRequest, numbered) (*mcp.CallToolResult, any, error) {
		return text("new"), nil, nil
	})
	require.Equal(t, "notifications/tools/list_changed", <-notes)
	cancel()
	require.ErrorIs(t, <-ended, conn.ErrCancelled)
	got, err := conn.Call[struct{ Tools []struct{ Name string } }](t.Context(), c, "tools/list", modern(map[string]any{}), conn.CallOptions{})
	require.NoError(t, err)
	require.Len(t, got.Tools, 8)
}

// A client that would rather speak the modern era learns from our refusal of
// its probe that the booth does not, and falls back.
func TestGoSDKClientFallsBack(t *testing.T) {
	_, session := visit(t, nil, "")
	require.Equal(t, "2025-11-25", session.InitializeResult().ProtocolVersion)
	got, err := ask(t, session, "double", numbered{N: 21})
	require.NoError(t, err)
	require.Equal(t, "42", got)
}
