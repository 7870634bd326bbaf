package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/engine"
)

// However a call with a deadline ended, its slot comes free when nobody takes the
// outcome until the grace after its total deadline is over, and not before.
func TestUnclaimedOutcomesAreReclaimed(t *testing.T) {
	const total, grace = 10 * time.Second, 5 * time.Second
	for name, end := range map[string]func(r *rig, c handle){
		"resolved":  func(r *rig, c handle) { require.True(r.t, r.Resolve(c.ID(), "v")) },
		"rejected":  func(r *rig, c handle) { require.True(r.t, r.Reject(c.ID(), errors.New("no"))) },
		"cancelled": func(r *rig, c handle) { require.True(r.t, r.Cancel(c.ID(), nil)) },
		"failed":    func(r *rig, c handle) { require.Equal(r.t, 1, r.FailAll(nil, false)) },
		"expired":   func(r *rig, c handle) { r.expire(total - r.clock.Now()) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, idle := range []time.Duration{engine.NoTimeout, time.Minute} {
				eachKind(t, options{Grace: grace, IdleTimeout: idle}, func(t *testing.T, r *rig) {
					c := r.begin(call{Timeout: total})
					r.clock.Advance(time.Second)
					end(r, c)
					r.clock.Advance(total + grace - r.clock.Now())
					require.True(t, c.Kept())
					r.expire(time.Millisecond)
					require.ErrorIs(t, r.outcome(c).Err, engine.ErrConsumed)
					<-c.Done()
					require.Equal(t, uint64(1), r.quiet().Reclaimed)
					require.Zero(t, r.clock.Timers())
				})
			}
		})
	}
}

// The same with an idle deadline alone: the last one counts.
func TestUnclaimedIdleOutcomesAreReclaimed(t *testing.T) {
	for _, expires := range []bool{false, true} {
		eachKind(t, options{Timeout: engine.NoTimeout}, func(t *testing.T, r *rig) {
			c := r.begin(call{IdleTimeout: time.Second})
			r.clock.Advance(800 * time.Millisecond)
			require.True(t, r.Touch(c.ID()))
			if expires {
				r.expire(time.Second)
			} else {
				require.True(t, r.Resolve(c.ID(), "v"))
			}
			r.clock.Advance(1800*time.Millisecond + engine.DefaultGrace - r.clock.Now())
			require.True(t, c.Kept())
			r.expire(time.Millisecond)
			require.False(t, c.Kept())
			require.Equal(t, uint64(1), r.quiet().Reclaimed)
		})
	}
}

// Without any deadline an outcome costs nothing until the table is full.
func TestUnclaimedOutcomesWithoutDeadline(t *testing.T) {
	eachKind(t, options{MaxPending: 2, Timeout: engine.NoTimeout}, func(t *testing.T, r *rig) {
		for range 2 {
			c := r.begin(call{})
			require.True(t, r.Resolve(c.ID(), "v"))
		}
		r.clock.Advance(24 * time.Hour)
		require.Zero(t, r.Stats().WheelRuns)
		full := func() {
			t.Helper()
			c, err := r.tryBegin(call{})
			if err == nil {
				c.Cancel(nil)
				c.Discard()
			}
			if r.fresh == nil || r.fresh().Text() != "" { // NextID says it by an absent id
				require.Error(t, err)
			}
		}
		full() // marks both
		r.clock.Advance(engine.DefaultTimeout)
		full() // not long enough
		r.clock.Advance(engine.DefaultGrace)
		c := r.begin(call{})
		require.Equal(t, uint64(2), r.Stats().Reclaimed)
		require.True(t, c.Cancel(nil))
		c.Discard()
		r.quiet()
	})
}

func TestGraceNever(t *testing.T) {
	eachKind(t, options{MaxPending: 1, Grace: -1}, func(t *testing.T, r *rig) {
		c := r.begin(call{Timeout: time.Second})
		require.True(t, r.Resolve(c.ID(), "v"))
		r.clock.Advance(1000 * time.Hour)
		_, err := r.tryBegin(call{NoWait: true})
		require.Error(t, err)
		require.Equal(t, "v", r.outcome(c).Value)
		require.Zero(t, r.quiet().Reclaimed)
	})
}

// An id that NextID gave and nobody registered does not fill the table for ever.
func TestReservedIDsAreReclaimed(t *testing.T) {
	r := newRig(t, options{MaxPending: 1}, engine.Tuning{})
	id := r.NextID()
	_, err := r.Begin(nil, call{})
	require.ErrorIs(t, err, engine.ErrFull)
	r.clock.Advance(engine.DefaultTimeout + engine.DefaultGrace - 2*time.Millisecond)
	_, err = r.Begin(nil, call{})
	require.ErrorIs(t, err, engine.ErrFull)
	r.clock.Advance(time.Second)
	c := r.begin(call{})
	_, err = r.Register(nil, id, call{})
	require.ErrorIs(t, err, engine.ErrUnknownID)
	require.True(t, r.Resolve(c.ID(), "v"))
	require.Equal(t, "v", r.outcome(c).Value)
	s := r.quiet()
	require.Equal(t, uint64(1), s.Reclaimed)
	require.Equal(t, uint64(1), s.Registered, "what was only reserved was no call")
}
