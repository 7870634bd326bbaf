package engine_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

func TestFreshIDsNeverRepeat(t *testing.T) {
	const workers, each = 8, 100
	for _, caller := range []bool{false, true} {
		r := newRig(t, options{CallerIDs: caller}, engine.Tuning{})
		var wg sync.WaitGroup
		var mu sync.Mutex
		seen := map[codec.ID]int{}
		for range workers {
			wg.Go(func() {
				for range each {
					id := r.NextID()
					mu.Lock()
					seen[id]++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		require.Len(t, seen, workers*each)
		require.NotContains(t, seen, codec.ID{})
		if caller {
			for n := range int64(workers * each) {
				require.Contains(t, seen, codec.IntID(n+1), "they are 1, 2, 3 and so on")
			}
		}
		r.Close()
		require.NotContains(t, seen, r.NextID(), "it goes on after close")
	}
}

func TestMintedIDsAreSafeIntegers(t *testing.T) {
	r := newRig(t, options{}, engine.Tuning{})
	for range 1000 {
		c := r.begin(call{})
		n, ok := c.ID().Int()
		require.True(t, ok)
		require.Positive(t, n)
		require.Less(t, n, int64(1)<<53)
		r.Resolve(c.ID(), "")
		c.Discard()
	}
	r.quiet()
}

func TestAbsentIDIsLoud(t *testing.T) {
	eachKind(t, options{}, func(t *testing.T, r *rig) {
		_, err := r.Register(nil, codec.ID{}, call{})
		require.ErrorIs(t, err, engine.ErrAbsentID)
		require.Zero(t, r.Len())
		require.Zero(t, r.clock.Timers())
	})
}

func TestDuplicateInFlightLeavesTheFirstAlone(t *testing.T) {
	for _, id := range []codec.ID{codec.IntID(0), codec.IntID(-3), codec.StringID(""), codec.StringID("a"), codec.NullID()} {
		r := newRig(t, options{CallerIDs: true}, engine.Tuning{})
		c, err := r.Register(nil, id, call{Method: "first"})
		require.NoError(t, err)
		_, err = r.Register(nil, id, call{Method: "second", Notify: func(outcome) { t.Error("refused, yet told") }})
		require.ErrorIs(t, err, engine.ErrDuplicateID)
		require.Contains(t, strings.ToLower(err.Error()), "already in flight")
		sent, known := engine.Sent(err)
		require.True(t, known && !sent)
		method, _ := r.Method(id)
		require.Equal(t, "first", method)
		require.True(t, r.Resolve(id, "x"))
		require.Equal(t, "x", r.outcome(c).Value)

		c, err = r.Register(nil, id, call{})
		require.NoError(t, err, "settled: the id is free again")
		require.True(t, r.Resolve(id, "y"))
		again, err := r.Register(nil, id, call{})
		require.NoError(t, err, "settled though not consumed: it is free as well")
		require.True(t, r.Resolve(id, "z"))
		require.Equal(t, "y", r.outcome(c).Value)
		require.Equal(t, "z", r.outcome(again).Value)
		require.Equal(t, uint64(1), r.quiet().Refused)
	}
}

func TestReservedIDsAreRegisteredOnce(t *testing.T) {
	r := newRig(t, options{}, engine.Tuning{})
	id := r.NextID()
	require.Zero(t, r.Len(), "given is not registered")
	require.False(t, r.Resolve(id, "early"))
	require.False(t, r.Cancel(id, nil))
	require.Equal(t, uint64(1), r.Stats().Unknown)
	c, err := r.Register(nil, id, call{})
	require.NoError(t, err)
	_, err = r.Register(nil, id, call{})
	require.ErrorIs(t, err, engine.ErrDuplicateID)
	require.True(t, r.Resolve(id, "x"))
	_, err = r.Register(nil, id, call{})
	require.ErrorIs(t, err, engine.ErrUnknownID, "a minted id is never used twice")
	require.Equal(t, "x", r.outcome(c).Value)
	_, err = r.Register(nil, id, call{})
	require.ErrorIs(t, err, engine.ErrUnknownID)
	for _, id := range []codec.ID{codec.IntID(7), codec.StringID("a"), codec.NullID(), codec.IntID(9<<24 | 1)} {
		_, err = r.Register(nil, id, call{})
		require.ErrorIs(t, err, engine.ErrUnknownID)
	}
	r.quiet()
}

func TestIDTypesAreApart(t *testing.T) {
	r := newRig(t, options{CallerIDs: true}, engine.Tuning{})
	number, err := r.Register(nil, codec.IntID(1), call{})
	require.NoError(t, err)
	text, err := r.Register(nil, codec.StringID("1"), call{})
	require.NoError(t, err)
	require.True(t, r.Resolve(codec.StringID("1"), "text"))
	require.False(t, r.Resolve(codec.StringID("1"), "again"))
	r.pending(number)
	require.True(t, r.Resolve(codec.IntID(1), "number"))
	require.Equal(t, "number", r.outcome(number).Value)
	require.Equal(t, "text", r.outcome(text).Value)
	r.quiet()
}

func TestInspection(t *testing.T) {
	eachKind(t, options{}, func(t *testing.T, r *rig) {
		a := r.begin(call{Method: "a"})
		r.clock.Advance(4 * time.Second)
		b := r.begin(call{Method: "b"})
		d := r.begin(call{Discard: true})
		n := r.begin(call{Notify: func(outcome) {}, Method: "n"})
		ids := []codec.ID{a.ID(), b.ID(), d.ID(), n.ID()}
		require.ElementsMatch(t, ids, r.Pending())
		require.IsIncreasing(t, texts(r.Pending()))
		require.Equal(t, 4, r.Len())
		require.Equal(t, 4, r.Stats().Pending)
		for c, want := range map[handle]string{a: "a", b: "b", d: "", n: "n"} {
			method, ok := r.Method(c.ID())
			require.True(t, ok)
			require.Equal(t, want, method)
		}
		age, ok := r.Age(a.ID())
		require.True(t, ok)
		require.Equal(t, 4*time.Second, age)
		age, ok = r.Age(b.ID())
		require.True(t, ok)
		require.Zero(t, age)

		for _, id := range ids {
			require.True(t, r.Known(id))
		}
		require.True(t, r.Resolve(ids[0], "x"))
		require.True(t, r.Known(ids[0]), "it is over")
		require.False(t, r.Resolve(codec.IntID(1<<51), "x"))
		require.False(t, r.Known(codec.IntID(1<<51)), "nobody has had it")
		require.False(t, r.Known(codec.StringID("never")))
		_, ok = r.Age(ids[0])
		require.False(t, ok)
		_, ok = r.Method(ids[0])
		require.False(t, ok)
		require.ElementsMatch(t, ids[1:], r.Pending())
		require.Equal(t, 3, r.FailAll(nil, false))
		for _, c := range []handle{a, b} {
			r.outcome(c)
		}
		r.quiet()
	})
}

// texts is what ids are sorted by when all are of one type and length.
func texts(ids []codec.ID) (all []string) {
	for _, id := range ids {
		all = append(all, id.Text())
	}
	return all
}

// Pending is sorted by type and then by value: numbers as numbers, in whatever order
// they were registered.
func TestPendingIsSorted(t *testing.T) {
	sorted := []codec.ID{
		codec.NullID(), codec.IntID(-3), codec.IntID(0), codec.IntID(9), codec.IntID(10), codec.IntID(1 << 60),
		codec.StringID(""), codec.StringID("10"), codec.StringID("9"), codec.StringID("a"),
	}
	slices.SortFunc(sorted, codec.ID.Compare)
	require.Less(t, slices.Index(sorted, codec.IntID(9)), slices.Index(sorted, codec.IntID(10)))
	require.Less(t, slices.Index(sorted, codec.StringID("10")), slices.Index(sorted, codec.StringID("9")))
	for _, shards := range []int{0, 1} {
		r := newRig(t, options{CallerIDs: true, Shards: shards}, engine.Tuning{})
		for _, i := range rand.Perm(len(sorted)) {
			_, err := r.Register(nil, sorted[i], call{Discard: true})
			require.NoError(t, err)
		}
		require.Equal(t, sorted, r.Pending())
		require.Equal(t, len(sorted), r.FailAll(nil, false))
		require.Empty(t, r.Pending())
		r.quiet()
	}
}
