package chunk

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/invariants"
)

func TestChunkClasses(t *testing.T) {
	for _, c := range []struct{ n, length int }{
		{0, 512}, {1, 512}, {512, 512}, {513, 1024}, {1024, 1024}, {4096, 4096}, {4097, 8192},
		{65536, 65536}, {65537, 131072}, {4<<20 - 1, 4 << 20}, {4 << 20, 4 << 20}, {4<<20 + 1, 4<<20 + 1},
	} {
		got := Get(c.n, 1<<30)
		require.Len(t, got.B, c.length, "%d bytes", c.n)
		require.Equal(t, c.length, cap(got.B), "SpliceInPlace counts from the end")
		require.Equal(t, c.n > Largest, got.home == nil)
		require.True(t, got.Sole())
		got.Release(got.Generation())
	}
	require.Len(t, Get(600, 700).B, 600, "no class between the need and the limit")
	require.Len(t, Get(600, 1024).B, 1024)
}

func TestChunkIsReleasedOnce(t *testing.T) {
	c := Get(100, 512)
	g := c.Generation()
	c.Retain(g)
	require.False(t, c.Sole())
	c.Release(g)
	require.True(t, c.Sole())
	c.Release(g)
	require.NotEqual(t, g, c.Generation())
	require.Panics(t, func() { c.Release(g) })
	require.Panics(t, func() { c.Retain(g) })
}

// Whichever of the holders is the last, exactly one gives the chunk back.
func TestChunkIsDroppedByManyAtOnce(t *testing.T) {
	const holders, rounds = 4, 2000
	for range rounds {
		c := made(16, nil) // no pool takes it, so it can be looked at afterwards
		g := c.Generation()
		for range holders - 1 {
			c.Retain(g)
		}
		var done sync.WaitGroup
		for range holders {
			done.Go(func() { c.Release(g) })
		}
		done.Wait()
		require.Equal(t, g+1, c.Generation())
		require.True(t, c.Sole(), "ready for the next")
	}
	c := made(16, nil)
	c.refs.Store(0)
	require.Panics(t, func() { c.Release(c.Generation()) }, "C2: no count below zero")
}

func TestChunkIsPoisoned(t *testing.T) {
	c := Get(5<<20, 5<<20)
	b := c.B
	copy(b, "abc")
	c.Release(c.Generation())
	if invariants.Enabled {
		require.Equal(t, byte(invariants.PoisonByte), b[0])
		require.Equal(t, byte(invariants.PoisonByte), b[len(b)-1])
	} else {
		require.Equal(t, "abc", string(b[:3]))
	}
}
