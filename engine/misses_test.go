package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// Answers that settle nothing are told apart: late ones for calls that ended
// without one, duplicates of one that came, and those to nobody.
func TestLateDuplicateAndUnknownAreApart(t *testing.T) {
	for name, c := range map[string]struct {
		end             func(r *rig, c handle)
		late, duplicate uint64
	}{
		"resolved":  {func(r *rig, c handle) { r.Resolve(c.ID(), "v") }, 0, 2},
		"rejected":  {func(r *rig, c handle) { r.Reject(c.ID(), errors.New("no")) }, 0, 2},
		"cancelled": {func(r *rig, c handle) { r.Cancel(c.ID(), nil) }, 2, 0},
		"expired":   {func(r *rig, c handle) { r.expire(time.Second) }, 2, 0},
		"failed":    {func(r *rig, c handle) { r.FailAll(nil, false) }, 2, 0},
		"context":   {func(r *rig, c handle) { _, _ = c.Wait(doneContext) }, 2, 0},
	} {
		for _, way := range []string{"kept", "consumed", "callback", "discard", "followed"} {
			if name == "context" && (way == "callback" || way == "discard") {
				continue
			}
			t.Run(name+" "+way, func(t *testing.T) {
				eachKind(t, options{MaxPending: 1}, func(t *testing.T, r *rig) {
					o := call{Timeout: time.Second, Discard: way == "discard"}
					if way == "callback" {
						o.Notify = func(outcome) {}
					}
					h := r.begin(o)
					id := h.ID()
					c.end(r, h)
					if way == "consumed" || way == "followed" {
						h.Outcome()
					}
					if way == "followed" { // its slot has another call now, of the other kind
						next := r.begin(call{})
						if c.late > 0 {
							defer func() { require.True(t, r.Resolve(next.ID(), "v")); next.Discard(); r.quiet() }()
						} else {
							defer func() { require.True(t, r.Cancel(next.ID(), nil)); next.Discard(); r.quiet() }()
						}
					}
					require.False(t, r.Resolve(id, "v"))
					require.False(t, r.Reject(id, errors.New("no")))
					require.False(t, r.Cancel(id, nil), "no answer, not counted")
					s := r.Stats()
					require.Equal(t, c.late, s.Late)
					require.Equal(t, c.duplicate, s.Duplicate)
					require.Zero(t, s.Unknown)
					require.False(t, r.Resolve(codec.IntID(1<<50), "v"))
					require.False(t, r.Resolve(codec.StringID("never"), "v"))
					require.False(t, r.Reject(codec.ID{}, errors.New("no")))
					require.Equal(t, uint64(3), r.Stats().Unknown)
				})
			})
		}
	}
}

// Sent says of every error whether it is safe to try again.
func TestSentTellsWhetherToTryAgain(t *testing.T) {
	eachKind(t, options{}, func(t *testing.T, r *rig) {
		for _, dispatched := range []bool{false, true} {
			for _, end := range []func(c handle){
				func(c handle) { r.Cancel(c.ID(), nil) },
				func(c handle) { r.FailAll(errGone, false) },
				func(c handle) { r.expire(time.Second) },
			} {
				c := r.begin(call{Timeout: time.Second})
				if dispatched {
					require.True(t, r.Dispatch(c.ID()))
					require.True(t, r.Dispatch(c.ID()))
				}
				id := c.ID()
				end(c)
				require.False(t, r.Dispatch(id))
				sent, known := engine.Sent(r.outcome(c).Err)
				require.True(t, known)
				require.Equal(t, dispatched, sent)
			}
		}
		r.quiet()
	})
	for _, err := range []error{nil, errors.New("other"), engine.ErrConsumed} {
		_, known := engine.Sent(err)
		require.False(t, known)
	}
}
