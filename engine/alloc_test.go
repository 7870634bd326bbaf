package engine_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/internal/invariants"
)

// gate asks that a call's whole life allocates no more than that. Averages are
// rounded down, so what a collection between two runs costs does not count.
func gate(t *testing.T, most float64, run func()) {
	t.Helper()
	if invariants.Race || invariants.Enabled {
		return // they allocate on their own account
	}
	require.LessOrEqual(t, testing.AllocsPerRun(2000, run), most)
}

func TestMintedCallsAllocateNothing(t *testing.T) {
	full := call{Method: "tools/call", IdleTimeout: engine.DefaultTimeout / 2}
	notified := full
	notified.Notify = func(outcome) {}
	dropped := full
	dropped.Discard = true
	for _, o := range []options{{}, {Observer: func(engine.Settlement) {}}} {
		e, err := engine.New(o)
		require.NoError(t, err)
		begin := func(o call) handle {
			c, err := e.Begin(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		gate(t, 0, func() {
			c := begin(full)
			e.Dispatch(c.ID())
			e.Touch(c.ID())
			e.Resolve(c.ID(), "v")
			_, _ = c.Wait(t.Context())
		})
		gate(t, 0, func() { e.Resolve(begin(notified).ID(), "v") })
		gate(t, 0, func() { e.Resolve(begin(dropped).ID(), "v") })
		gate(t, 0, func() {
			c := begin(full)
			e.Resolve(c.ID(), "v")
			c.Outcome()
		})
		gate(t, 0, func() {
			id := e.NextID()
			c, _ := e.Register(t.Context(), id, full)
			e.Resolve(id, "v")
			c.Discard()
		})
		gate(t, 0, func() { e.Resolve(codec.IntID(1<<40), "unknown") })
		requireQuiet(t, e)
	}
}

// A parked waiter's channel belongs to the slot: only the first one is made.
func TestParkedCallsAllocateNothing(t *testing.T) {
	e, err := engine.New(options{})
	require.NoError(t, err)
	ids := make(chan codec.ID)
	go func() {
		for id := range ids {
			e.Resolve(id, "v")
		}
	}()
	defer close(ids)
	gate(t, 0, func() {
		c, _ := e.Begin(t.Context(), call{})
		ids <- c.ID()
		_, _ = c.Wait(nil)
	})
}

func TestCallersIDsAllocateOnce(t *testing.T) {
	for _, id := range []codec.ID{codec.IntID(7), codec.StringID("a-string-id")} {
		e, err := engine.New(options{CallerIDs: true})
		require.NoError(t, err)
		gate(t, 1, func() {
			c, _ := e.Register(t.Context(), id, call{Method: "tools/call"})
			e.Resolve(id, "v")
			_, _ = c.Wait(t.Context())
		})
		requireQuiet(t, e)
	}
}

// An engine that was never used is small.
func TestAnUnusedEngineIsSmall(t *testing.T) {
	if invariants.Race || invariants.Enabled {
		return
	}
	for _, callers := range []bool{false, true} {
		const n = 100
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range n {
			_, err := engine.New(options{CallerIDs: callers})
			require.NoError(t, err)
		}
		runtime.ReadMemStats(&after)
		require.Less(t, (after.TotalAlloc-before.TotalAlloc)/n, uint64(4096), "callers=%v", callers)
	}
}
