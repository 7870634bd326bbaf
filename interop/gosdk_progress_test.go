package interop

import (
	"context"
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
)

func TestGoSDKServerReportsProgress(t *testing.T) {
	c := newWorkshop().connect(t, conn.Options{})
	var reports []conn.ProgressReport
	got, err := tool(t, c, "steps", numbered{N: 20}, conn.CallOptions{Progress: func(p conn.Progress) {
		report, err := p.Report()
		if err != nil {
			t.Error(err)
		}
		reports = append(reports, report)
	}})
	require.NoError(t, err)
	require.Equal(t, "20 steps", got)
	require.NotEmpty(t, reports)
	for i, report := range reports {
		require.Equal(t, 20.0, *report.Total)
		require.Equal(t, fmt.Sprint("step ", report.Progress), report.Message)
		require.True(t, i == 0 || report.Progress > reports[i-1].Progress, "out of order")
	}
	require.Equal(t, 20.0, reports[len(reports)-1].Progress, "the last one is never dropped")
}

// Falling progress and progress under a token that nobody gave out, from a real
// server: neither harms the call nor the link.
func TestGoSDKServerOddProgress(t *testing.T) {
	w := newWorkshop()
	c := w.connect(t, conn.Options{})
	_, err := tool(t, c, "speak", numbered{}, conn.CallOptions{})
	require.NoError(t, err)
	session := <-w.session
	for _, token := range []any{"never given", 987654321, ""} {
		for _, value := range []float64{5, 3, 3, -1} {
			require.NoError(t, session.NotifyProgress(t.Context(), &mcp.ProgressNotificationParams{ProgressToken: token, Progress: value}))
		}
	}
	got, err := tool(t, c, "double", numbered{N: 4}, conn.CallOptions{})
	require.NoError(t, err)
	require.Equal(t, "8", got)
	require.EqualValues(t, 12, c.Stats().ProgressUnknown)
}

// The server asks its client: ping is answered by the connection, the rest by
// the handler, all while a call of ours is pending.
func TestGoSDKServerAsks(t *testing.T) {
	w := newWorkshop()
	c := w.connect(t, conn.Options{Handler: conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) {
		if r.Method() == "roots/list" {
			_ = r.Reply([]byte(`{"roots":[{"uri":"file:///a"}]}`))
		}
	})})
	_, err := tool(t, c, "speak", numbered{}, conn.CallOptions{})
	require.NoError(t, err)
	session := <-w.session
	ctx, cancel := context.WithCancel(t.Context())
	pending := make(chan error, 1)
	go func() {
		_, err := conn.Call[toolResult](ctx, c, "tools/call", call("hold", numbered{}), conn.CallOptions{})
		pending <- err
	}()
	require.Equal(t, "begun", <-w.held)
	for range 10 {
		require.NoError(t, session.Ping(t.Context(), nil))
		//lint:ignore SA1019 a server of the older era may ask for them
		roots, err := session.ListRoots(t.Context(), nil)
		require.NoError(t, err)
		require.Equal(t, "file:///a", roots.Roots[0].URI)
	}
	cancel()
	require.ErrorIs(t, <-pending, conn.ErrCancelled)
}
