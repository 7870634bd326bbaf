package interop

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
)

// The server hears of a call that its caller gave up. It answers all the same,
// as go-sdk does; that is late, is counted and harms nobody.
func TestGoSDKServerHearsCancel(t *testing.T) {
	w := newWorkshop()
	c := w.connect(t, conn.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := conn.Call[toolResult](ctx, c, "tools/call", call("hold", numbered{}), conn.CallOptions{})
		failed <- err
	}()
	require.Equal(t, "begun", <-w.held)
	cancel()
	require.ErrorIs(t, <-failed, conn.ErrCancelled)
	stillServes(t, w, c)
}

func TestGoSDKServerHearsTimeout(t *testing.T) {
	w := newWorkshop()
	c := w.connect(t, conn.Options{})
	_, err := tool(t, c, "hold", numbered{}, conn.CallOptions{Timeout: 50 * time.Millisecond})
	require.ErrorIs(t, err, conn.ErrTimeout)
	require.Equal(t, "begun", <-w.held)
	stillServes(t, w, c)
}

func stillServes(t *testing.T, w *workshop, c *conn.Conn) {
	t.Helper()
	require.Equal(t, "cancelled", <-w.held, "the server did not hear of it")
	for c.Stats().Calls.Late == 0 { // its answer, which comes in its own time
		got, err := tool(t, c, "double", numbered{N: 21}, conn.CallOptions{})
		require.NoError(t, err)
		require.Equal(t, "42", got)
	}
	require.EqualValues(t, 1, c.Stats().CancelsOut)
	require.EqualValues(t, 1, c.Stats().Calls.Late)
}
