package engine_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

var errGone = errors.New("gone")

// how says how a call stands, and ends it.
func (r *rig) how(c handle) string {
	o, settled := c.Outcome()
	if !settled {
		c.Cancel(nil)
		c.Discard()
		return "pending"
	}
	return o.Status.String()
}

// A call is registered while the table closes: it has failed, whoever told it so.
func TestLitmusRegisterClose(t *testing.T) {
	for _, kind := range []string{"minted", "string"} {
		t.Run(kind, func(t *testing.T) {
			litmus{allowed: []string{"0 failed", "1 failed"}}.run(t, func(n int) ([]func(), func() string) {
				r := newRig(t, options{CallerIDs: kind == "string", Shards: 1, MaxPending: 4}, engine.Tuning{Stripes: 1})
				var c handle
				failed := 0
				return []func(){
						func() { c, _ = r.register(codec.StringID("a")) },
						func() { failed = r.FailAll(errGone, true) },
					}, func() string {
						h := r.how(c)
						r.quiet()
						return say(failed, " ", h)
					}
			})
		})
	}
}

// register begins a call, under the id if it is the caller who brings them.
func (r *rig) register(id codec.ID) (handle, error) {
	c, err := r.Register(nil, id, call{})
	if errors.Is(err, engine.ErrUnknownID) {
		return r.Begin(nil, call{})
	}
	return c, err
}

// The same while the table is only swept: before the sweep or after it.
func TestLitmusRegisterFailAll(t *testing.T) {
	bothKinds(t, options{}, func(t *testing.T, r *rig) {
		litmus{allowed: []string{"0 pending", "1 failed"}}.run(t, func(n int) ([]func(), func() string) {
			var c handle
			failed := 0
			return []func(){
				func() { c = r.begin(call{}) },
				func() { failed = r.FailAll(errGone, false) },
			}, func() string { return say(failed, " ", r.how(c)) }
		})
		r.quiet()
	})
}

// A reserved id is registered while the table is swept or closed.
func TestLitmusReservedFailAll(t *testing.T) {
	for _, closing := range []bool{false, true} {
		allowed := []string{"0 pending", "1 failed"}
		if closing {
			allowed = []string{"0 failed", "1 failed"}
		}
		litmus{allowed: allowed}.run(t, func(n int) ([]func(), func() string) {
			r := newRig(t, options{MaxPending: 4}, engine.Tuning{Stripes: 1})
			id := r.NextID()
			var c handle
			failed := 0
			return []func(){
					func() { c, _ = r.Register(nil, id, call{}) },
					func() { failed = r.FailAll(errGone, closing) },
				}, func() string {
					h := r.how(c)
					r.quiet()
					return say(failed, " ", h)
				}
		})
	}
}

// Two register one reserved id.
func TestLitmusReservedTwice(t *testing.T) {
	r := newRig(t, options{}, engine.Tuning{})
	litmus{allowed: []string{"true false", "false true"}}.run(t, func(n int) ([]func(), func() string) {
		id := r.NextID()
		var errs [2]error
		return []func(){
				func() { _, errs[0] = r.Register(nil, id, call{Discard: true}) },
				func() { _, errs[1] = r.Register(nil, id, call{Discard: true}) },
			}, func() string {
				require.ErrorIs(t, errors.Join(errs[:]...), engine.ErrDuplicateID)
				require.True(t, r.Resolve(id, ""))
				return say(errs[0] == nil, " ", errs[1] == nil)
			}
	})
	r.quiet()
}

// Two register one id of the caller's.
func TestLitmusRegisterTwice(t *testing.T) {
	r := newRig(t, options{CallerIDs: true}, engine.Tuning{})
	id := codec.StringID("a")
	litmus{allowed: []string{"true false", "false true"}}.run(t, func(n int) ([]func(), func() string) {
		var errs [2]error
		return []func(){
				func() { _, errs[0] = r.Register(nil, id, call{Discard: true}) },
				func() { _, errs[1] = r.Register(nil, id, call{Discard: true}) },
			}, func() string {
				require.ErrorIs(t, errors.Join(errs[:]...), engine.ErrDuplicateID)
				require.True(t, r.Resolve(id, ""))
				return say(errs[0] == nil, " ", errs[1] == nil)
			}
	})
	r.quiet()
}

// An id is registered again while its call is settled: refused, or it is a call of
// its own which the settling does not reach.
func TestLitmusRegisterAgainSettle(t *testing.T) {
	id := codec.StringID("a")
	for name, settle := range map[string]func(r *rig) bool{
		"resolve": func(r *rig) bool { return r.Resolve(id, "v") },
		"cancel":  func(r *rig) bool { return r.Cancel(id, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, options{CallerIDs: true, Shards: 1}, engine.Tuning{})
			litmus{allowed: []string{"true refused", "true pending"}}.run(t, func(n int) ([]func(), func() string) {
				first, err := r.Register(nil, id, call{})
				require.NoError(t, err)
				var second handle
				settled := false
				return []func(){
						func() { second, err = r.Register(nil, id, call{}) },
						func() { settled = settle(r) },
					}, func() string {
						r.outcome(first)
						if err != nil {
							require.ErrorIs(t, err, engine.ErrDuplicateID)
							return say(settled, " refused")
						}
						require.Equal(t, []codec.ID{id}, r.Pending())
						return say(settled, " ", r.how(second))
					}
			})
			r.quiet()
		})
	}
}

// The same while the table is swept: the sweep may take the second one as well.
func TestLitmusRegisterAgainFailAll(t *testing.T) {
	id := codec.StringID("a")
	r := newRig(t, options{CallerIDs: true, Shards: 1}, engine.Tuning{})
	allowed := []string{"1 refused", "1 pending", "2 failed"}
	litmus{allowed: allowed}.run(t, func(n int) ([]func(), func() string) {
		first, err := r.Register(nil, id, call{})
		require.NoError(t, err)
		var second handle
		failed := 0
		return []func(){
				func() { second, err = r.Register(nil, id, call{}) },
				func() { failed = r.FailAll(errGone, false) },
			}, func() string {
				r.outcome(first)
				if err != nil {
					return say(failed, " refused")
				}
				return say(failed, " ", r.how(second))
			}
	})
	r.quiet()
}
