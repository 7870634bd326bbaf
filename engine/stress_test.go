package engine_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/internal/invariants"
	"github.com/correlator-go/correlator/wheel"
)

// What a stress does to one engine, from many goroutines. The value of a result is
// the number in its call's id, so an outcome that reaches another call shows.
type stress struct {
	t        *testing.T
	e        *engine.Engine[int64]
	clock    *engine.ManualClock // nil: the system's
	callers  bool
	hold     int // calls that a worker has in flight before it waits for one
	recent   [256]atomic.Int64
	exhaust  atomic.Bool
	began    atomic.Int64                    // calls that were registered
	settled  [engine.Failed + 1]atomic.Int64 // what the observer heard
	taken    [engine.Failed + 1]atomic.Int64 // what waiters and callbacks got
	unwanted atomic.Int64                    // calls whose outcome nobody got
}

const stressWorkers = 8

// stressOps is how many operations each worker of a test does, over all the engines
// that the test makes.
func stressOps() int {
	if stressFull {
		return 1_000_000
	}
	if invariants.Enabled {
		return 4_000 // the wheel proves itself whole after every step
	}
	return 20_000
}

func TestStressDefault(t *testing.T) {
	runStress(t, engine.Options[int64]{}, engine.Tuning{}, 32, stressOps())
}

func TestStressCallerIDsOneShard(t *testing.T) {
	runStress(t, engine.Options[int64]{CallerIDs: true, Shards: 1}, engine.Tuning{Stripes: 1}, 32, stressOps())
}

func TestStressFewSlots(t *testing.T) {
	for slots := 1; slots <= 4; slots++ {
		for _, callers := range []bool{false, true} {
			runStress(t, engine.Options[int64]{
				MaxPending: slots, Overflow: engine.OverflowWait, CallerIDs: callers,
			}, engine.Tuning{}, 0, stressOps()/8)
		}
	}
}

func TestStressSpentGenerations(t *testing.T) {
	for _, callers := range []bool{false, true} {
		runStress(t, engine.Options[int64]{MaxPending: 40, CallerIDs: callers}, engine.Tuning{GenBits: 1, SlotsMax: 10_000}, 4, stressOps()/4)
		runStress(t, engine.Options[int64]{MaxPending: 4, CallerIDs: callers, Overflow: engine.OverflowWait},
			engine.Tuning{GenBits: 2, SlotsMax: 2_000}, 0, stressOps()/4)
	}
}

func TestStressTicksNearTheWrap(t *testing.T) {
	for _, origin := range []wheel.Tick{1<<32 - 5, 1<<31 - 5} {
		runStress(t, engine.Options[int64]{Clock: engine.NewManualClock()}, engine.Tuning{Origin: origin}, 32, stressOps()/2)
	}
}

// runStress does the operations on as many engines as it takes: one whose ids are
// exhausted is checked and followed by the next.
func runStress(t *testing.T, o engine.Options[int64], tune engine.Tuning, hold, ops int) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	goroutines := runtime.NumGoroutine()
	var left [stressWorkers]int
	for w := range left {
		left[w] = ops
	}
	for round := uint64(0); left != [stressWorkers]int{}; round++ {
		s := &stress{t: t, callers: o.CallerIDs, hold: hold}
		s.clock, _ = o.Clock.(*engine.ManualClock)
		o.Observer = func(told engine.Settlement) { s.settled[told.Status].Add(1) }
		e, err := engine.NewTuned(o, tune)
		require.NoError(t, err)
		s.e = e
		var wg sync.WaitGroup
		for w := range left {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(seed+round, uint64(w)))
				left[w] = s.work(rng, left[w])
			})
		}
		wg.Wait()
		s.check()
		if t.Failed() {
			return
		}
	}
	requireNoMoreGoroutines(t, goroutines)
}

// requireNoMoreGoroutines asks that there are as few goroutines as before. Those of
// timers come and go.
func requireNoMoreGoroutines(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		require.True(t, time.Now().Before(deadline), "%d goroutines left over", runtime.NumGoroutine()-before)
	}
}

func (s *stress) check() {
	s.e.Close()
	for !s.e.Resting() { // it may have won a call and not told the observer yet
		runtime.Gosched()
	}
	stats := requireQuiet(s.t, s.e)
	require.Equal(s.t, s.began.Load(), int64(stats.Registered))
	var outcomes, taken int64
	for status, n := range map[engine.Status]uint64{
		engine.Resolved: stats.Resolved, engine.Rejected: stats.Rejected, engine.Cancelled: stats.Cancelled,
		engine.Expired: stats.Expired, engine.Failed: stats.Failed,
	} {
		require.Equal(s.t, int64(n), s.settled[status].Load(), "%v", status)
		require.LessOrEqual(s.t, s.taken[status].Load(), int64(n), "%v", status)
		outcomes += int64(n)
		taken += s.taken[status].Load()
	}
	require.Equal(s.t, s.began.Load(), outcomes)
	require.Equal(s.t, outcomes, taken+s.unwanted.Load())
	require.Zero(s.t, stats.Panics)
	require.LessOrEqual(s.t, int64(stats.Reclaimed), s.unwanted.Load()) // who comes too late finds nothing
}
