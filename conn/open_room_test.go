package conn

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Once a batch was large the next has room for a full one at once, and no longer
// when batches are small again.
func TestOpenBatchHasTheRoomOfTheLast(t *testing.T) {
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
	require.False(t, l.open.large)
	for range 3 {
		require.Positive(t, batch(100))
	}
	batch(nodeSmall + 1)
	require.True(t, l.open.large)
}
