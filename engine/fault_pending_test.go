package engine_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/internal/invariants"
)

// The late answer to a call that timed out must not reach the call that has its
// slot now: the slot's generation is part of the id.
func TestP01LateAnswerAfterIDReuse(t *testing.T) {
	r := newRig(t, options{MaxPending: 1}, engine.Tuning{SlotsMax: 1})
	a := r.begin(call{Timeout: 10 * time.Millisecond})
	r.expire(10 * time.Millisecond)
	require.ErrorIs(t, r.outcome(a).Err, engine.ErrTimeout)
	b := r.begin(call{})
	require.NotEqual(t, a.ID(), b.ID())
	require.False(t, r.Resolve(a.ID(), "A"))
	require.False(t, r.Reject(a.ID(), errors.New("A")))
	require.False(t, r.Touch(a.ID()))
	r.pending(b)
	require.True(t, r.Resolve(b.ID(), "B"))
	require.Equal(t, "B", r.outcome(b).Value)
	require.Equal(t, uint64(2), r.quiet().Late)
}

// Every way to end gives the slot back: after more calls than there are slots, the
// next one goes out at once.
func TestP02SlotsComeBackOnEveryEnding(t *testing.T) {
	endings := map[string]func(r *rig, c handle){
		"result":       func(r *rig, c handle) { r.Resolve(c.ID(), "v") },
		"error":        func(r *rig, c handle) { r.Reject(c.ID(), &codec.Error{Code: -32000}) },
		"timeout":      func(r *rig, c handle) { r.expire(time.Second) },
		"cancel":       func(r *rig, c handle) { r.Cancel(c.ID(), nil) },
		"write failed": func(r *rig, c handle) { c.Cancel(errors.New("broken pipe")) },
		"fail all":     func(r *rig, c handle) { r.FailAll(errors.New("x"), false) },
		"context": func(r *rig, c handle) {
			_, err := c.Wait(doneContext)
			require.Error(r.t, err)
		},
	}
	for name, end := range endings {
		for _, way := range []string{"handle", "callback", "discard"} {
			if name == "context" && way != "handle" {
				continue
			}
			t.Run(name+" "+way, func(t *testing.T) {
				eachKind(t, options{MaxPending: 4}, func(t *testing.T, r *rig) {
					for range 5 {
						var calls []handle
						for range 4 {
							o := call{Timeout: time.Second, Discard: way == "discard"}
							if way == "callback" {
								o.Notify = func(outcome) {}
							}
							calls = append(calls, r.begin(o))
						}
						for _, c := range calls {
							end(r, c)
						}
						for _, c := range calls {
							c.Outcome()
						}
						r.quiet()
					}
				})
			})
		}
	}
}

// Calls that a silent peer never answers leave nothing behind, and its late answers
// are told from answers to nobody.
func TestP04NothingStaysAfterTimeouts(t *testing.T) {
	n := 100_000
	if invariants.Race || invariants.Enabled {
		n = 2_000
	}
	kinds(t, options{MaxPending: n}, func(t *testing.T, r *rig) {
		goroutines := runtime.NumGoroutine()
		ids := make([]codec.ID, n)
		wave := func() {
			for i := range ids {
				ids[i] = r.begin(call{Method: "x", Timeout: time.Millisecond, Discard: true}).ID()
			}
			require.Equal(t, n, r.Len())
			r.expire(time.Millisecond)
			require.Zero(t, r.Len())
		}
		wave()
		full := liveBytes()
		for range 3 {
			wave()
		}
		require.Less(t, liveBytes(), full+full/4, "the memory of the first wave serves the others")
		for _, id := range ids {
			require.False(t, r.Resolve(id, "late"))
		}
		for i := range ids {
			require.False(t, r.Resolve(codec.IntID(1<<51+int64(i)), "never"))
		}
		requireNoMoreGoroutines(t, goroutines)
		s := r.quiet()
		require.Equal(t, uint64(4*n), s.Expired)
		require.Equal(t, uint64(2*n), s.Late+s.Unknown)
		if r.fresh == nil {
			require.Equal(t, uint64(n), s.Late)
		} else {
			require.NotZero(t, s.Late, "callers' ids are remembered for a while only")
		}
		require.Zero(t, r.clock.Timers())
	}, "minted", "string")
}

// liveBytes is how much is live.
func liveBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A peer that answers the number 0 as "0", or the other way round.
func TestP07AnswerOfTheOtherType(t *testing.T) {
	number, text := codec.IntID(0), codec.StringID("0")
	for _, match := range []bool{false, true} {
		for _, c := range []struct{ asked, answered codec.ID }{{number, text}, {text, number}} {
			t.Run(fmt.Sprintf("%v for %v match=%v", c.answered, c.asked, match), func(t *testing.T) {
				r := newRig(t, options{CallerIDs: true, MatchText: match}, engine.Tuning{})
				for _, settle := range []func(codec.ID) bool{
					func(id codec.ID) bool { return r.Resolve(id, "v") },
					func(id codec.ID) bool { return r.Reject(id, errors.New("no")) },
				} {
					h, err := r.Register(nil, c.asked, call{})
					require.NoError(t, err)
					require.Equal(t, match, settle(c.answered))
					require.Equal(t, !match, settle(c.asked))
					require.NoError(t, err)
					r.outcome(h)
				}
				require.False(t, r.Cancel(c.answered, nil), "only answers are matched by text")
				r.quiet()
			})
		}
	}
	r := newRig(t, options{CallerIDs: true, MatchText: true}, engine.Tuning{})
	a, err := r.Register(nil, number, call{})
	require.NoError(t, err)
	b, err := r.Register(nil, text, call{})
	require.NoError(t, err, "matching answers does not merge ids")
	require.True(t, r.Resolve(text, "text"), "the exact type wins")
	r.pending(a)
	for _, odd := range []string{"00", " 0", "+0", "-0", "0.0", "0e0", "０"} {
		require.False(t, r.Resolve(codec.StringID(odd), "odd"), odd)
	}
	require.True(t, r.Resolve(text, "number by its text"))
	require.Equal(t, "text", r.outcome(b).Value)
	require.Equal(t, "number by its text", r.outcome(a).Value)
	r.quiet()

	r = newRig(t, options{MatchText: true}, engine.Tuning{}) // minted ids as well
	c := r.begin(call{})
	require.True(t, r.Resolve(codec.StringID(c.ID().Text()), "v"))
	require.Equal(t, "v", r.outcome(c).Value)
	r.quiet()
}
