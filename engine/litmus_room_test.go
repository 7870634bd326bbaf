package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// The context of one who waits for room ends as room is made: he has it, or it is
// there for the next.
func TestLitmusLeaveQueueFree(t *testing.T) {
	bothKinds(t, options{MaxPending: 1, Overflow: engine.OverflowWait}, func(t *testing.T, r *rig) {
		litmus{allowed: []string{"served", "gone"}}.run(t, func(n int) ([]func(), func() string) {
			held := r.begin(call{Discard: true}).ID()
			ctx, cancel := context.WithCancel(context.Background())
			var served handle
			var err error
			return []func(){
					func() {
						if r.fresh != nil {
							served, err = r.Register(ctx, r.fresh(), call{Discard: true})
						} else {
							served, err = r.Begin(ctx, call{Discard: true})
						}
					},
					func() { r.Resolve(held, "v") },
					cancel,
				}, func() string {
					if err == nil {
						served.Cancel(nil)
						return "served"
					}
					require.ErrorIs(t, err, context.Canceled)
					return "gone"
				}
		})
		next := r.begin(call{NoWait: true})
		next.Cancel(nil)
		next.Discard()
		r.quiet()
	})
}

// One joins the queue for room as the table closes: he is told, and does not wait.
func TestLitmusJoinQueueClose(t *testing.T) {
	litmus{allowed: []string{"told"}}.run(t, func(n int) ([]func(), func() string) {
		r := newRig(t, options{MaxPending: 1, Overflow: engine.OverflowWait}, engine.Tuning{Stripes: 1})
		r.begin(call{Discard: true})
		var c handle
		var err error
		return []func(){
				func() { c, err = r.Begin(context.Background(), call{}) },
				func() { r.FailAll(errGone, true) },
			}, func() string {
				require.NoError(t, err)
				require.ErrorIs(t, r.outcome(c).Err, errGone)
				r.quiet()
				return "told"
			}
	})
}

// When the last slot's generations are spent, those who wait for room are told that
// there will be none.
func TestWaitingForIDsThatRunOut(t *testing.T) {
	r := newRig(t, options{MaxPending: 1, Overflow: engine.OverflowWait}, engine.Tuning{GenBits: 1, SlotsMax: 1})
	c := r.begin(call{Discard: true})
	told := make(chan error)
	for range 3 {
		go func() {
			_, err := r.Begin(context.Background(), call{})
			told <- err
		}()
	}
	r.Resolve(c.ID(), "v")
	for range 3 {
		require.ErrorIs(t, <-told, engine.ErrIDsExhausted)
	}
	require.True(t, r.NextID().IsAbsent())
	r.quiet()
}

// An id may be registered again from the moment that its call was claimed, though
// the winner has not taken it out of the index yet. Detach runs right then.
func TestRegisterAgainBetweenClaimAndPublish(t *testing.T) {
	var again handle
	var r *rig
	id := codec.StringID("a")
	r = newRig(t, options{CallerIDs: true, Detach: func(v, _ string) string {
		if v == "first" {
			var err error
			again, err = r.Register(nil, id, call{})
			require.NoError(t, err)
			_, err = r.Register(nil, id, call{})
			require.ErrorIs(t, err, engine.ErrDuplicateID)
		}
		return v
	}}, engine.Tuning{})
	c, err := r.Register(nil, id, call{})
	require.NoError(t, err)
	require.True(t, r.Resolve(id, "first"))
	require.Equal(t, []codec.ID{id}, r.Pending(), "the winner spares the entry of the next call")
	require.True(t, r.Resolve(id, "second"))
	require.Equal(t, "first", r.outcome(c).Value)
	require.Equal(t, "second", r.outcome(again).Value)
	r.quiet()
}

func TestCloseWithoutAnError(t *testing.T) {
	r := newRig(t, options{}, engine.Tuning{})
	c := r.begin(call{})
	require.Equal(t, 1, r.FailAll(nil, true))
	require.ErrorIs(t, r.Failure(), engine.ErrClosed)
	require.ErrorIs(t, r.outcome(c).Err, engine.ErrClosed)
	r.quiet()
}

func TestNames(t *testing.T) {
	for want, name := range map[string]interface{ String() string }{
		"pending": engine.Pending, "resolved": engine.Resolved, "rejected": engine.Rejected,
		"cancelled": engine.Cancelled, "expired": engine.Expired, "failed": engine.Failed, "Status(9)": engine.Status(9),
		"no": engine.DeadlineNone, "idle": engine.DeadlineIdle, "total": engine.DeadlineTotal,
		"context": engine.DeadlineContext, "Deadline(9)": engine.Deadline(9),
	} {
		require.Equal(t, want, name.String())
	}
	err := &engine.CallError{ID: codec.IntID(7), Status: engine.Failed, Sent: true, Err: errors.New("gone")}
	require.Equal(t, "engine: call 7 failed after 0s, sent: gone", err.Error())
}
