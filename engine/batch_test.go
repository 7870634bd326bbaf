package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

func TestRunBeginsCallsLikeAnyOthers(t *testing.T) {
	for _, caller := range []bool{false, true} {
		t.Run(fmt.Sprint("caller ids ", caller), func(t *testing.T) {
			const calls = 300
			r := newRig(t, options{CallerIDs: caller, MaxPending: calls}, engine.Tuning{})
			seen := map[codec.ID]bool{}
			for range 3 { // the second and third time the slots come back
				var ids []codec.ID
				got := 0
				run := r.Run(calls)
				for range calls {
					c, err := run.Begin(context.Background(), &engine.CallOptions[string]{Method: "m", Notify: func(o engine.Outcome[string]) {
						got++
						require.NoError(t, o.Err)
					}})
					require.NoError(t, err)
					require.False(t, seen[c.ID()], "an id twice")
					seen[c.ID()] = true
					ids = append(ids, c.ID())
				}
				_, err := run.Begin(context.Background(), &engine.CallOptions[string]{})
				require.ErrorIs(t, err, engine.ErrFull)
				run.End()
				require.Equal(t, calls, r.Len())
				for _, id := range ids {
					require.True(t, r.Resolve(id, "yes"))
				}
				require.Equal(t, calls, got)
			}
			r.quiet()
		})
	}
}

func TestRunGivesBackWhatItDidNotUse(t *testing.T) {
	const slots = 64
	r := newRig(t, options{MaxPending: slots}, engine.Tuning{})
	fill := func() (calls []engine.Call[string]) {
		for range slots {
			c, err := r.Begin(context.Background(), engine.CallOptions[string]{})
			require.NoError(t, err)
			calls = append(calls, c)
		}
		return calls
	}
	empty := func(calls []engine.Call[string]) {
		for _, c := range calls {
			c.Cancel(nil)
			c.Discard()
		}
	}
	empty(fill()) // all slots lie on a stack now
	run := r.Run(slots)
	c, err := run.Begin(context.Background(), &engine.CallOptions[string]{})
	require.NoError(t, err)
	_, err = run.Begin(context.Background(), &engine.CallOptions[string]{Discard: true, Notify: func(engine.Outcome[string]) {}})
	require.Error(t, err, "options are checked")
	run.End()
	run.End()
	empty([]engine.Call[string]{c})
	empty(fill())
	r.quiet()
}

func TestRunOnAClosedEngine(t *testing.T) {
	r := newRig(t, options{}, engine.Tuning{})
	c, err := r.Begin(context.Background(), engine.CallOptions[string]{})
	require.NoError(t, err)
	c.Cancel(nil)
	c.Discard()
	why := errors.New("gone")
	run := r.Run(8)
	first, err := run.Begin(context.Background(), &engine.CallOptions[string]{})
	require.NoError(t, err)
	r.FailAll(why, true)
	second, err := run.Begin(context.Background(), &engine.CallOptions[string]{})
	require.NoError(t, err)
	run.End()
	for _, c := range []engine.Call[string]{first, second} {
		o, ok := c.Outcome()
		require.True(t, ok)
		require.ErrorIs(t, o.Err, why)
	}
	r.quiet()
}

// Runs, single calls and answers on a table that is nearly full: no slot is lost
// or given twice.
func TestRunsAtOnce(t *testing.T) {
	const workers, rounds, each = 8, 300, 40
	r := newRig(t, options{MaxPending: workers * each / 2}, engine.Tuning{Stripes: 2})
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for n := range rounds {
				var calls []engine.Call[string]
				run := r.Run(each)
				for range each - (w+n)%7 {
					c, err := run.Begin(context.Background(), &engine.CallOptions[string]{})
					if err != nil {
						break
					}
					calls = append(calls, c)
				}
				run.End()
				for _, c := range calls {
					if !r.Resolve(c.ID(), "v") {
						panic("a call settled by someone else")
					}
					if o, ok := c.Outcome(); !ok || o.Err != nil {
						panic("an outcome went to someone else")
					}
				}
			}
		})
	}
	wg.Wait()
	r.quiet()
}
