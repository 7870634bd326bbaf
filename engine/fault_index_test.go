package engine_test

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/internal/invariants"
)

// many is n, or a part of it where each step is dear.
func many(n int) int {
	if invariants.Race || invariants.Enabled {
		return n / 20
	}
	return n
}

// What is registered while the table grows to a million is found at once, and settled
// once. The index grows as well, from next to nothing, some ten times over. No call has
// a deadline: where the machine is busy this takes its time.
func TestP08NothingIsLostWhileTheTableGrows(t *testing.T) {
	const inserters, deleters = 16, 4
	for _, shards := range []int{0, 1} {
		each := many(1_000_000 / inserters)
		if shards == 1 {
			each /= 8 // one lock for all
		}
		if stressFull {
			each = 1_000_000 / inserters
		}
		e, err := engine.NewTuned(options{CallerIDs: true, Shards: shards, MaxPending: inserters * each}, engine.Tuning{Presize: 1})
		require.NoError(t, err)
		ids := make(chan codec.ID, 1024)
		var insert, remove sync.WaitGroup
		for w := range inserters {
			insert.Go(func() {
				for n := range each {
					id := codec.StringID(fmt.Sprint(w, "-", n))
					_, err := e.Register(nil, id, call{Method: "m", Discard: true, Timeout: engine.NoTimeout})
					assert.NoError(t, err)
					_, ok := e.Method(id)
					assert.True(t, ok, "%v is not found", id)
					if n%2 == 0 {
						ids <- id
					}
				}
			})
		}
		var removed atomic.Int64
		for range deleters {
			remove.Go(func() {
				for id := range ids {
					assert.True(t, e.Resolve(id, ""), "%v is lost", id)
					assert.False(t, e.Resolve(id, ""), "%v is there twice", id)
					removed.Add(1)
				}
			})
		}
		insert.Wait()
		close(ids)
		remove.Wait()
		total := inserters * each
		require.Equal(t, total-int(removed.Load()), e.Len())
		require.Equal(t, uint64(total), e.Stats().Registered)
		for w := range inserters {
			for n := range each {
				require.Equal(t, n%2 == 1, e.Cancel(codec.StringID(fmt.Sprint(w, "-", n)), nil))
			}
		}
		requireQuiet(t, e)
	}
}

// The gauges never show less than nothing, and are exact when it is quiet: sixteen
// register and settle the same few ids for as long as another looks a million times.
func TestP10GaugesNeverUnderflow(t *testing.T) {
	looks := many(1_000_000)
	for _, callers := range []bool{false, true} {
		e, err := engine.New(options{CallerIDs: callers})
		require.NoError(t, err)
		var work sync.WaitGroup
		var over atomic.Bool
		for w := range 16 {
			work.Go(func() {
				id := codec.IntID(int64(w % 4))
				for !over.Load() {
					if callers {
						_, _ = e.Register(nil, id, call{Discard: true}) // often a duplicate
					} else if c, err := e.Begin(nil, call{Discard: true}); assert.NoError(t, err) {
						id = c.ID()
					}
					e.Resolve(id, "")
				}
			})
		}
		for n := range looks {
			if now := e.Len(); now < 0 || now > 16 {
				t.Errorf("%d pending", now)
				break
			}
			if n%16 != 0 {
				continue
			}
			s := e.Stats()
			if s.Pending < 0 || s.Pending > s.Slots || int64(s.Resolved) < 0 {
				t.Errorf("%+v", s)
				break
			}
		}
		over.Store(true)
		work.Wait()
		requireQuiet(t, e)
	}
}

// The table keeps ids, not the buffer they were read from.
func TestP11KeysDoNotShareTheReadBuffer(t *testing.T) {
	buffer := []byte(`"client-aaaa"`)
	id, err := codec.ParseID(buffer, codec.MCP)
	require.NoError(t, err)
	r := newRig(t, options{CallerIDs: true}, engine.Tuning{})
	c, err := r.Register(nil, id, call{})
	require.NoError(t, err)
	copy(buffer, `"client-bbbb"`)
	other, err := codec.ParseID(buffer, codec.MCP)
	require.NoError(t, err)
	require.False(t, r.Cancel(other, nil))
	require.Equal(t, []codec.ID{codec.StringID("client-aaaa")}, r.Pending())
	require.True(t, r.Cancel(codec.StringID("client-aaaa"), nil))
	require.Equal(t, codec.StringID("client-aaaa"), r.outcome(c).ID)
	r.quiet()
}

// The work of ending a call does not grow with the number of those that wait: a
// visit or two of each slot, whether there are few or many.
func TestP13EndingsCostTheSameInACrowd(t *testing.T) {
	most := many(1_000_000)
	if stressFull {
		most = 1_000_000
	}
	for _, n := range []int{many(100_000), most} {
		homes := []string{"minted", "string"}
		if n == 1_000_000 && !stressFull {
			homes = homes[:1] // a million keys take their time
		}
		kinds(t, options{MaxPending: n}, func(t *testing.T, r *rig) {
			ids := make([]codec.ID, n)
			begin := func(d time.Duration) {
				for i := range ids {
					ids[i] = r.begin(call{Timeout: d, Discard: true}).ID()
				}
			}
			begin(time.Hour)
			for _, id := range ids {
				require.True(t, r.Cancel(id, nil))
			}
			begin(time.Hour)
			require.Equal(t, n, r.FailAll(nil, false))
			begin(time.Second)
			r.expire(time.Second)
			s := r.quiet()
			require.Equal(t, uint64(n), s.Expired)
			require.LessOrEqual(t, s.WheelVisits, uint64(3*n))
			require.LessOrEqual(t, s.Staged, uint64(3*n))
		}, homes...)
	}
}

// Ids do not come from the clock: it stands still, and no two are equal; nor when
// generations are spent and their slots retired.
func TestP14IDsAreDistinctAtOneMoment(t *testing.T) {
	for name, tune := range map[string]engine.Tuning{
		"plain": {}, "generations run out": {GenBits: 2, SlotsMax: 4000},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, options{MaxPending: 8}, tune)
			var mu sync.Mutex
			seen := map[codec.ID]bool{}
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					for range 1000 {
						c, err := r.Begin(nil, call{})
						if !assert.NoError(t, err) {
							return
						}
						id := c.ID()
						assert.True(t, r.Resolve(id, "v"))
						c.Discard()
						mu.Lock()
						assert.False(t, seen[id], "%v was given twice", id)
						seen[id] = true
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			require.Len(t, seen, 8000)
			r.quiet()
		})
	}
}

// Callers' ids: the count comes to its end and begins again while its first numbers
// are pending still, the counter's own word overflows, and the caller uses numbers of
// its own accord. No two calls that are pending have one id, and each gets its answer.
func TestP14NumbersComeAgain(t *testing.T) {
	const calls, workers = 1000, 8
	for name, counted := range map[string]uint64{
		"the count ends": engine.CountMax - 10, "its word overflows": math.MaxUint64 - 10, "from the start": 0,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, options{CallerIDs: true, MaxPending: 2 * calls}, engine.Tuning{Counted: counted})
			old := map[codec.ID]handle{}
			for n := range int64(50) { // of its own accord, about where the numbers will be
				for _, id := range []int64{2*n + 1, engine.CountMax - n, int64((counted+uint64(3*n))%engine.CountMax) + 1} {
					c, err := r.Register(nil, codec.IntID(id), call{})
					if errors.Is(err, engine.ErrDuplicateID) {
						continue
					}
					require.NoError(t, err)
					old[c.ID()] = c
				}
			}
			handles := make([]handle, calls)
			var wg sync.WaitGroup
			for w := range workers {
				wg.Go(func() {
					for i := w; i < calls; i += workers {
						c, err := r.Begin(nil, call{})
						if !assert.NoError(t, err) {
							return
						}
						handles[i] = c
					}
				})
			}
			wg.Wait()
			require.Equal(t, calls+len(old), r.Len())
			for _, c := range handles {
				n, ok := c.ID().Int()
				require.True(t, ok && n >= 1 && n <= engine.CountMax, "%v", c.ID())
				require.NotContains(t, old, c.ID())
				old[c.ID()] = c
			}
			for id, c := range old {
				require.True(t, r.Resolve(id, id.Text()), "%v: two calls have it", id)
				require.Equal(t, id.Text(), r.outcome(c).Value)
			}
			r.quiet()
		})
	}
}

// A table whose every place is taken by numbers of a count that is one longer has one
// number left, and finds it.
func TestP14TheLastNumberIsFound(t *testing.T) {
	const places = 8
	for _, max := range []int64{-1, 1, places, engine.CountMax + 1} {
		_, err := engine.New(options{CallerIDs: true, MaxPending: places, CountMax: max})
		refused, ok := errors.AsType[*engine.OptionError](err)
		require.True(t, ok, "%d: %v", max, err)
		require.Equal(t, "CountMax", refused.Field)
	}
	r := newRig(t, options{CallerIDs: true, MaxPending: places, CountMax: places + 1}, engine.Tuning{})
	var held []handle
	for range places - 1 {
		held = append(held, r.begin(call{}))
	}
	for range 100 {
		c, err := r.Begin(nil, call{})
		require.NoError(t, err)
		n, _ := c.ID().Int()
		require.Contains(t, []int64{places, places + 1}, n)
		_, err = r.Begin(nil, call{})
		require.ErrorIs(t, err, engine.ErrFull)
		require.True(t, r.Resolve(c.ID(), "v"))
		require.Equal(t, "v", r.outcome(c).Value)
	}
	for _, c := range held {
		require.True(t, r.Cancel(c.ID(), nil))
		c.Discard()
	}
	r.quiet()
}

// Someone with very many calls goes away: others' calls go on meanwhile, and the
// table does not shrink behind them only to grow again.
func TestB10MassRemovalDoesNotStopOthers(t *testing.T) {
	n := many(200_000)
	// Made for few and grown, so that there is something to shrink.
	e, err := engine.NewTuned(options{CallerIDs: true, MaxPending: n + 64}, engine.Tuning{Presize: 1})
	require.NoError(t, err)
	for i := range n {
		_, err := e.Register(nil, codec.StringID(fmt.Sprint("A", i)), call{Discard: true})
		require.NoError(t, err)
	}
	slots, room := e.Stats().Slots, e.IndexRoom()
	require.Greater(t, room, n)
	var gone atomic.Bool
	others := make(chan struct{}) // closed when another's call ended
	under := sync.OnceFunc(func() { close(others) })
	var wg sync.WaitGroup
	wg.Go(func() {
		defer under()
		for i := 0; !gone.Load(); i++ {
			id := codec.StringID(fmt.Sprint("B", i))
			c, err := e.Register(nil, id, call{})
			if !assert.NoError(t, err) || !assert.True(t, e.Resolve(id, "b")) {
				return
			}
			v, err := c.Wait(nil)
			assert.NoError(t, err)
			assert.Equal(t, "b", v)
			under()
		}
	})
	<-others
	for i := range n {
		require.True(t, e.Cancel(codec.StringID(fmt.Sprint("A", i)), nil))
	}
	gone.Store(true)
	wg.Wait()
	require.LessOrEqual(t, e.Stats().Slots, slots+64)
	require.GreaterOrEqual(t, e.IndexRoom(), room, "what shrinks stops its writers, and grows again")
	requireQuiet(t, e)
}
