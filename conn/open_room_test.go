package conn

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// After a large batch some have room for a full one at once, until enough of them
// were small.
func TestOpenBatchHasTheRoomOfOnesBefore(t *testing.T) {
	l := newLine()
	batch := func(bytes int) int {
		n := l.tryOpen(100)
		require.NotNil(t, n)
		before := cap(n.buf)
		n.buf = append(n.buf, make([]byte, bytes)...)
		l.join(noCall, 0, waiting)
		l.closeOpen(l.take())
		return before
	}
	batch(nodeSmall + 100)
	require.GreaterOrEqual(t, batch(100), openBytes)
	for range openLasts - 1 {
		require.Positive(t, l.open.large)
		require.GreaterOrEqual(t, batch(100), openBytes)
	}
	require.Zero(t, l.open.large)
	batch(nodeSmall)
	require.Zero(t, l.open.large)
	batch(nodeSmall + 1)
	require.Equal(t, openLasts, l.open.large)
}
