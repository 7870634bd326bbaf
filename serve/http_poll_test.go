package serve_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// A handler lets its client come again instead of holding a connection.
func TestSessionPolling(t *testing.T) {
	overBoth(t, serve.Options{}, serve.HTTPOptions{}, func(w *web, f *tools) {
		closed := make(chan bool, 4)
		w.server.RegisterTool(mcp.ServerTool{
			Tool: mcp.Tool{Name: "polled", InputSchema: json.RawMessage(`{"type":"object"}`)},
			Handle: func(ctx context.Context, _ *mcp.Request) (*mcp.ToolResult, error) {
				closed <- serve.CloseStream(ctx)
				<-f.release
				return mcp.ToolText("in the end"), nil
			},
		})
		h := w.begin("2025-11-25")
		r := w.do(http.MethodPost, old("1", "polled", `{}`, ""), h...)
		require.True(t, <-closed)
		first, ok := r.next()
		require.True(t, ok)
		require.NotEmpty(t, first.retry)
		_, more := r.next()
		require.False(t, more, "the response has ended, the call has not")
		again := make(chan event)
		go func() { again <- w.do(http.MethodGet, "", append(h, "Last-Event-ID", first.id)...).message() }()
		synctest.Wait()
		close(f.release)
		require.Equal(t, "in the end", parse(t, (<-again).data).text(t))

		// Elsewhere it does nothing.
		require.Equal(t, "in the end", parse(t, w.tool("1", "polled", `{}`).all()).text(t))
		require.False(t, <-closed)
		require.False(t, serve.CloseStream(context.Background()))
	})
}
