package engine_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// grown begins so many calls, and then, when nothing grows any more, a few more.
func grown(t *testing.T, e *engine.Engine[string], n int) {
	t.Helper()
	begin := func(n int) {
		for range n {
			_, err := e.Begin(nil, call{Method: "m", Discard: true})
			require.NoError(t, err)
		}
		for e.GrowsAhead() {
			runtime.Gosched()
		}
	}
	begin(n)
	begin(engine.Batch) // the first of them looks at what there is once more
}

// A table that grows has slots in reserve, and for them what its calls use besides.
func TestGrowingTableHasAReserve(t *testing.T) {
	e, err := engine.New(options{MaxPending: -1})
	require.NoError(t, err)
	for _, n := range []int{2_000, 5_000, 50_000} {
		grown(t, e, n)
		used := e.Stats().Slots
		all, withDetails := e.Memory()
		reserve := min(max(used, 2048), 49_152)
		require.GreaterOrEqual(t, all, used+max(reserve/4, 1024), "%d used", used)
		require.LessOrEqual(t, all, used+reserve+8192, "%d used", used)
		require.Equal(t, all, withDetails)
	}
	require.Positive(t, e.FailAll(nil, false))
	requireQuiet(t, e)
}

// A small table takes no more than it needs: nothing runs for it.
func TestSmallTableIsLeftAlone(t *testing.T) {
	e, err := engine.New(options{})
	require.NoError(t, err)
	grown(t, e, 1000)
	all, _ := e.Memory()
	require.Equal(t, 1024, all)
	grown(t, e, 1000)
	all, _ = e.Memory()
	require.Equal(t, 3072, all)
}

// The reserve keeps to the bound, but for the rest of the slab in which it lies, and
// the last slots of it are handed out.
func TestReserveKeepsToTheBound(t *testing.T) {
	const bound = 6000
	for _, callers := range []bool{false, true} {
		e, err := engine.New(options{MaxPending: bound, CallerIDs: callers})
		require.NoError(t, err)
		var ids []codec.ID
		for range bound {
			c, err := e.Begin(nil, call{Discard: true})
			require.NoError(t, err)
			ids = append(ids, c.ID())
		}
		_, err = e.Begin(nil, call{})
		require.ErrorIs(t, err, engine.ErrFull)
		for e.GrowsAhead() {
			runtime.Gosched()
		}
		all, _ := e.Memory()
		require.GreaterOrEqual(t, all, bound)
		require.Less(t, all, bound+2048)
		for _, id := range ids {
			require.True(t, e.Resolve(id, "v"), "%v", id)
		}
		require.Equal(t, uint64(bound), e.Stats().Resolved)
		requireQuiet(t, e)
	}
}
