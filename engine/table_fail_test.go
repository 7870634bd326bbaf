package engine_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// Whatever the interleaving, each of the calls that raced a closing FailAll has
// failed with the one stored failure.
func TestFailAllLeavesNobodyBehind(t *testing.T) {
	gone := errors.New("server gone")
	const workers, each = 8, 25
	for range 50 {
		eachKind(t, options{}, func(t *testing.T, r *rig) {
			calls := make([][]handle, workers)
			var wg sync.WaitGroup
			for w := range calls {
				wg.Go(func() {
					for range each {
						c, err := r.tryBegin(call{Method: "x"})
						if err != nil {
							t.Error(err)
						}
						calls[w] = append(calls[w], c)
					}
				})
			}
			failed := r.FailAll(gone, true)
			wg.Wait()
			all := slices.Concat(calls...)
			require.Len(t, all, workers*each)
			require.LessOrEqual(t, failed, len(all))
			for _, c := range all {
				o := r.outcome(c)
				require.Equal(t, engine.Failed, o.Status)
				require.ErrorIs(t, o.Err, gone)
				require.ErrorIs(t, o.Err, engine.ErrClosed)
			}
			require.Zero(t, r.FailAll(errors.New("other"), true))
			require.Same(t, gone, r.Failure())
			r.quiet()
		})
	}
}

// tryBegin registers a call and hands on the error.
func (r *rig) tryBegin(o call) (handle, error) {
	if r.fresh == nil {
		return r.Begin(nil, o)
	}
	return r.Register(nil, r.fresh(), o)
}

func TestClosedTableFailsFast(t *testing.T) {
	gone := errors.New("server gone")
	eachKind(t, options{}, func(t *testing.T, r *rig) {
		id := codec.IntID(1 << 24)
		if r.fresh != nil {
			id = r.fresh()
		}
		require.False(t, r.Closed())
		require.NoError(t, r.Failure())
		require.Zero(t, r.FailAll(gone, true), "an empty table closes as well")
		require.True(t, r.Closed())
		require.Same(t, gone, r.Failure())
		require.NoError(t, r.Close())
		require.Same(t, gone, r.Failure(), "the first failure stays")

		c, err := r.Register(nil, id, call{Method: "x", Timeout: time.Second})
		require.NoError(t, err, "losing that race is normal")
		require.Equal(t, id, c.ID())
		<-c.Done()
		_, err = c.Wait(nil)
		require.ErrorIs(t, err, gone)
		require.ErrorIs(t, err, engine.ErrClosed)
		sent, known := engine.Sent(err)
		require.True(t, known)
		require.False(t, sent)
		_, err = c.Wait(nil)
		require.ErrorIs(t, err, engine.ErrConsumed)
		require.False(t, c.Cancel(nil))
		c.Discard()

		again, err := r.Register(nil, id, call{})
		require.NoError(t, err, "the look for duplicates is not reached")
		require.ErrorIs(t, r.outcome(again).Err, gone)
		_, err = r.Register(nil, codec.ID{}, call{})
		require.ErrorIs(t, err, engine.ErrAbsentID, "the caller's bug comes first")

		told := 0
		c, err = r.Begin(nil, call{Notify: func(o outcome) { told++; require.ErrorIs(t, o.Err, gone) }})
		require.NoError(t, err)
		require.Equal(t, 1, told)
		require.ErrorIs(t, r.outcome(c).Err, engine.ErrConsumed, "the callback had it")
		c, err = r.Begin(nil, call{Discard: true})
		require.NoError(t, err)
		require.ErrorIs(t, r.outcome(c).Err, engine.ErrConsumed)
		require.Zero(t, r.clock.Timers(), "no timer for a call born failed")
		require.Zero(t, r.Len())
	})
}

func TestFailAllWithoutClosingStaysOpen(t *testing.T) {
	hiccup := errors.New("hiccup")
	eachKind(t, options{}, func(t *testing.T, r *rig) {
		var calls []handle
		for range 5 {
			calls = append(calls, r.begin(call{}))
		}
		require.True(t, r.Resolve(calls[0].ID(), "in time"))
		require.Equal(t, 4, r.FailAll(hiccup, false))
		require.Zero(t, r.FailAll(hiccup, false))
		require.False(t, r.Closed())
		require.NoError(t, r.Failure())
		require.Equal(t, "in time", r.outcome(calls[0]).Value)
		for _, c := range calls[1:] {
			o := r.outcome(c)
			require.Equal(t, engine.Failed, o.Status)
			require.ErrorIs(t, o.Err, hiccup)
			require.NotErrorIs(t, o.Err, engine.ErrClosed, "it is open")
		}
		c := r.begin(call{})
		require.True(t, r.Resolve(c.ID(), "works"))
		require.Equal(t, "works", r.outcome(c).Value)
		c = r.begin(call{})
		require.Equal(t, 1, r.FailAll(nil, false))
		require.Error(t, r.outcome(c).Err)
		require.Equal(t, uint64(5), r.quiet().Failed)
	})
}

// A callback that registers again cannot keep a FailAll running, and what it
// registers is not failed, or at once when the table closed.
func TestFailAllAndCallbacksThatRegister(t *testing.T) {
	for _, closing := range []bool{false, true} {
		eachKind(t, options{}, func(t *testing.T, r *rig) {
			var later []handle
			told := 0
			notify := func(outcome) {
				told++
				c, err := r.tryBegin(call{})
				require.NoError(t, err)
				later = append(later, c)
			}
			for range 10 {
				r.begin(call{Notify: notify})
			}
			require.Equal(t, 10, r.FailAll(errors.New("x"), closing))
			require.Equal(t, 10, told)
			require.Len(t, later, 10)
			for _, c := range later {
				_, settled := c.Outcome()
				require.Equal(t, closing, settled)
				c.Cancel(nil)
				c.Discard()
			}
			r.quiet()
		})
	}
}
