package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/engine"
)

// seek starts a goroutine that begins a call and says how that went.
func seek(ctx context.Context, e *engine.Engine[string], o call) <-chan error {
	got := make(chan error, 1)
	go func() {
		_, err := e.Begin(ctx, o)
		got <- err
	}()
	synctest.Wait()
	return got
}

func TestOverflowFails(t *testing.T) {
	eachKind(t, options{MaxPending: 2}, func(t *testing.T, r *rig) {
		a, b := r.begin(call{}), r.begin(call{})
		_, err := r.tryBegin(call{})
		require.Error(t, err)
		if r.fresh == nil {
			require.ErrorIs(t, err, engine.ErrFull)
			sent, known := engine.Sent(err)
			require.True(t, known && !sent)
		}
		require.NotZero(t, r.Stats().Refused)
		require.True(t, r.Resolve(a.ID(), "v"))
		_, err = r.tryBegin(call{})
		require.Error(t, err, "settled is not consumed")
		require.Equal(t, "v", r.outcome(a).Value)
		c := r.begin(call{})
		for _, c := range []handle{b, c} {
			require.True(t, c.Cancel(nil))
			r.outcome(c)
		}
		r.quiet()
	})
}

// First come, first served; nobody overtakes those who wait.
func TestOverflowWaitIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := system(t, options{MaxPending: 1, Overflow: engine.OverflowWait, CallerIDs: true})
		first, err := e.Begin(nil, call{Discard: true})
		require.NoError(t, err)
		last := first.ID()
		var order []int
		const waiters = 20
		done := make(chan struct{})
		for n := range waiters {
			go func() {
				c, err := e.Begin(t.Context(), call{Discard: true})
				if err != nil {
					t.Error(err)
				}
				order = append(order, n) // the slot is held: nobody else does this now
				if n == waiters-1 {
					close(done)
				}
				e.Resolve(c.ID(), "v")
			}()
			synctest.Wait()
		}
		_, err = e.Begin(nil, call{NoWait: true})
		require.ErrorIs(t, err, engine.ErrFull)
		require.True(t, e.Resolve(last, "v"))
		<-done
		synctest.Wait()
		require.IsIncreasing(t, order)
		require.Len(t, order, waiters)
	})
}

// Who waits for room goes when its context ends, and says of what kind that was.
// What is granted to one who goes at that moment goes to the next.
func TestOverflowWaitEndsWithItsContext(t *testing.T) {
	cause := errors.New("user went away")
	synctest.Test(t, func(t *testing.T) {
		e := system(t, options{MaxPending: 1, Overflow: engine.OverflowWait})
		held, err := e.Begin(nil, call{Timeout: engine.NoTimeout})
		require.NoError(t, err)

		ctx, cancel := context.WithCancelCause(t.Context())
		cancelled := seek(ctx, e, call{Method: "a"})
		soon, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		expired := seek(soon, e, call{Method: "b"})
		patient := seek(t.Context(), e, call{Method: "c", Discard: true})
		cancel(cause)
		err = <-cancelled
		require.ErrorIs(t, err, engine.ErrCancelled)
		require.ErrorIs(t, err, cause)
		sent, known := engine.Sent(err)
		require.True(t, known && !sent)

		err = <-expired
		require.ErrorIs(t, err, engine.ErrTimeout)
		e1, ok := errors.AsType[*engine.CallError](err)
		require.True(t, ok)
		require.Equal(t, engine.DeadlineContext, e1.Deadline)
		require.Equal(t, "b", e1.Method)
		require.Equal(t, time.Second, e1.Elapsed)

		held.Cancel(nil)
		held.Discard()
		require.NoError(t, <-patient)
		require.Equal(t, 1, e.FailAll(nil, false))
	})
}

// A table that closes sends those who wait home with calls that have failed.
func TestOverflowWaitEndsWithTheTable(t *testing.T) {
	gone := errors.New("gone")
	synctest.Test(t, func(t *testing.T) {
		e := system(t, options{MaxPending: 1, Overflow: engine.OverflowWait})
		_, err := e.Begin(nil, call{Discard: true})
		require.NoError(t, err)
		told := make(chan error, 3)
		for range 3 {
			go func() {
				c, err := e.Begin(t.Context(), call{})
				if err == nil {
					_, err = c.Wait(nil)
				}
				told <- err
			}()
		}
		synctest.Wait()
		require.Equal(t, 1, e.FailAll(gone, true))
		for range 3 {
			err := <-told
			require.ErrorIs(t, err, gone)
			require.ErrorIs(t, err, engine.ErrClosed)
		}
	})
}

// Outcomes that nobody comes for make room in the end for those who wait.
func TestOverflowWaitReclaims(t *testing.T) {
	for _, timeout := range []time.Duration{time.Second, engine.NoTimeout} {
		synctest.Test(t, func(t *testing.T) {
			e := system(t, options{MaxPending: 1, Overflow: engine.OverflowWait})
			c, err := e.Begin(nil, call{Timeout: timeout})
			require.NoError(t, err)
			require.True(t, e.Resolve(c.ID(), "v"))
			began := time.Now()
			require.NoError(t, <-seek(t.Context(), e, call{Discard: true}))
			require.Less(t, time.Since(began), 3*(engine.DefaultTimeout+engine.DefaultGrace))
			require.Equal(t, 1, e.FailAll(nil, false))
			require.Equal(t, uint64(1), e.Stats().Reclaimed)
		})
	}
}
