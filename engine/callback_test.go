package engine_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// When a callback runs the call's slot is free, so it can register, settle and fail
// all, in a table of one.
func TestCallbackFindsARoomyTable(t *testing.T) {
	eachKind(t, options{MaxPending: 1}, func(t *testing.T, r *rig) {
		told := 0
		c := r.begin(call{Notify: func(o outcome) {
			told++
			require.Equal(t, "1", o.Value)
			require.False(t, r.Resolve(o.ID, "again"))
			inner := r.begin(call{Notify: func(o outcome) {
				told++
				require.ErrorIs(t, o.Err, errGone)
				last := r.begin(call{})
				require.True(t, r.Resolve(last.ID(), "3"))
				require.Equal(t, "3", r.outcome(last).Value)
			}})
			require.NotEqual(t, o.ID, inner.ID())
			require.Equal(t, 1, r.FailAll(errGone, false))
		}})
		require.True(t, r.Resolve(c.ID(), "1"))
		require.Equal(t, 2, told)
		_, err := c.Wait(nil)
		require.ErrorIs(t, err, engine.ErrConsumed)
		r.quiet()
	})
}

// A chain of callbacks that settle the next one does not grow the stack without
// end: what goes too deep is put off until one returns, and nothing is lost.
func TestCallbacksNestSoDeepAndNoDeeper(t *testing.T) {
	const chain = 20_000
	kinds(t, options{}, func(t *testing.T, r *rig) {
		ids := make([]codec.ID, chain)
		told, depth, deepest := 0, 0, 0
		for n := range ids {
			ids[n] = r.begin(call{Notify: func(outcome) {
				told++
				depth++
				deepest = max(deepest, depth)
				if n+1 < chain {
					require.True(t, r.Resolve(ids[n+1], "v"))
				}
				depth--
			}}).ID()
		}
		require.True(t, r.Resolve(ids[0], "v"))
		require.Equal(t, chain, told)
		// Each stripe counts for itself, and the goroutine may be moved on the way down.
		require.LessOrEqual(t, deepest, 2*engine.DepthMax*runtime.GOMAXPROCS(0))
		require.Greater(t, deepest, 1)
		r.quiet()
	}, "minted", "string")
}

// Notify and Discard do not go together.
func TestNotifyAndDiscardAreRefused(t *testing.T) {
	eachKind(t, options{}, func(t *testing.T, r *rig) {
		_, err := r.tryBegin(call{Notify: func(outcome) {}, Discard: true})
		e, ok := errors.AsType[*engine.OptionError](err)
		require.True(t, ok)
		require.Equal(t, "Discard", e.Field)
		require.Zero(t, r.Len())
	})
}

// After its outcome was taken, a handle says so, always and in every way, while
// others use its slot.
func TestDoubleConsumptionIsLoud(t *testing.T) {
	eachKind(t, options{MaxPending: 1}, func(t *testing.T, r *rig) {
		c := r.begin(call{})
		require.True(t, r.Resolve(c.ID(), "v"))
		v, err := c.Wait(nil)
		require.NoError(t, err)
		require.Equal(t, "v", v)
		for _, next := range []func(){
			func() {},
			func() { r.begin(call{Discard: true}) },
			func() { r.FailAll(nil, false) },
		} {
			next()
			v, err = c.Wait(nil)
			require.ErrorIs(t, err, engine.ErrConsumed)
			require.Empty(t, v)
			o := r.outcome(c)
			require.ErrorIs(t, o.Err, engine.ErrConsumed)
			require.Equal(t, engine.Pending, o.Status)
			<-c.Done()
			require.False(t, c.Cancel(nil))
			c.Discard()
		}
		r.quiet()
	})
	require.Panics(t, func() { handle{}.ID() }, "the zero call is no call")
}

// A value that was taken is not kept alive by its slot.
func TestSlotsKeepNothingAlive(t *testing.T) {
	e, err := engine.New(engine.Options[*[1 << 20]byte]{})
	require.NoError(t, err)
	collected := make(chan struct{}, 4)
	value := func() *[1 << 20]byte {
		v := new([1 << 20]byte)
		runtime.AddCleanup(v, func(int) { collected <- struct{}{} }, 0)
		return v
	}
	begin := func(o engine.CallOptions[*[1 << 20]byte]) engine.Call[*[1 << 20]byte] {
		c, err := e.Begin(nil, o)
		require.NoError(t, err)
		return c
	}
	c := begin(engine.CallOptions[*[1 << 20]byte]{})
	e.Resolve(c.ID(), value())
	_, err = c.Wait(nil)
	require.NoError(t, err)
	e.Resolve(begin(engine.CallOptions[*[1 << 20]byte]{Discard: true}).ID(), value())
	held := value()
	e.Cancel(begin(engine.CallOptions[*[1 << 20]byte]{Notify: func(engine.Outcome[*[1 << 20]byte]) { _ = held }}).ID(), nil)
	held = nil
	c = begin(engine.CallOptions[*[1 << 20]byte]{})
	e.Resolve(c.ID(), value())
	c.Discard()
	for range 4 {
		for len(collected) == 0 {
			runtime.GC()
			runtime.Gosched()
		}
		<-collected
	}
	requireQuiet(t, e)
	runtime.KeepAlive(e)
}
