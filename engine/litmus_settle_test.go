package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/engine"
)

// Two settle one call: one wins, and the outcome is the winner's, however it is
// delivered.
func TestLitmusResolveCancel(t *testing.T) {
	for _, way := range []string{"outcome", "callback", "discard"} {
		t.Run(way, func(t *testing.T) {
			bothKinds(t, options{}, func(t *testing.T, r *rig) {
				litmus{allowed: []string{"true false resolved", "false true cancelled, late"}}.run(t, func(n int) ([]func(), func() string) {
					var told []outcome
					o := call{Discard: way == "discard"}
					if way == "callback" {
						o.Notify = func(o outcome) { told = append(told, o) }
					}
					c := r.begin(o)
					id, before := c.ID(), r.Stats()
					var resolved, cancelled bool
					return []func(){
							func() { resolved = r.Resolve(id, "v") },
							func() { cancelled = r.Cancel(id, nil) },
						}, func() string {
							status := engine.Resolved
							switch way {
							case "outcome":
								told = append(told, r.outcome(c))
								status = told[0].Status
							case "callback":
								status = told[0].Status
							default:
								if r.Stats().Cancelled > before.Cancelled {
									status = engine.Cancelled
								}
							}
							if len(told) > 1 {
								return "told twice"
							}
							answer := ""
							switch after := r.Stats(); {
							case after.Late > before.Late:
								answer = ", late"
							case after.Duplicate+after.Unknown > before.Duplicate+before.Unknown:
								answer = ", and no call's"
							}
							return say(resolved, " ", cancelled, " ", status, answer)
						}
				})
				r.quiet()
			})
		})
	}
}

// An answer races the timeout: exactly one of them has the call.
func TestLitmusResolveExpire(t *testing.T) {
	bothKinds(t, options{}, func(t *testing.T, r *rig) {
		litmus{allowed: []string{"true resolved", "false expired"}}.run(t, func(n int) ([]func(), func() string) {
			c := r.begin(call{Timeout: time.Millisecond})
			id := c.ID()
			var resolved bool
			return []func(){
				func() { resolved = r.Resolve(id, "v") },
				func() { r.expire(time.Millisecond) },
			}, func() string { return say(resolved, " ", r.outcome(c).Status) }
		})
		r.quiet()
	})
}

// Progress races the idle deadline: it saves the call or comes too late, and never
// takes a claim back.
func TestLitmusTouchExpire(t *testing.T) {
	r := newRig(t, options{}, engine.Tuning{})
	litmus{allowed: []string{"true pending", "false expired"}}.run(t, func(n int) ([]func(), func() string) {
		c := r.begin(call{IdleTimeout: 5 * time.Millisecond})
		r.clock.Advance(3 * time.Millisecond)
		var touched bool
		return []func(){
				func() { touched = r.Touch(c.ID()) },
				func() { r.clock.Advance(4 * time.Millisecond) },
			}, func() string {
				o, settled := c.Outcome()
				c.Cancel(nil)
				c.Discard()
				if !settled {
					return say(touched, " pending")
				}
				return say(touched, " ", o.Status)
			}
	})
	r.quiet()
}

// When Dispatch said that the call is pending, whoever settles it later knows that
// it was sent. The other way round it may say sent of a call that was not.
func TestLitmusDispatchCancel(t *testing.T) {
	bothKinds(t, options{}, func(t *testing.T, r *rig) {
		allowed := []string{"true true", "false false", "false true"}
		litmus{allowed: allowed}.run(t, func(n int) ([]func(), func() string) {
			c := r.begin(call{})
			id := c.ID()
			var sent bool
			return []func(){
					func() { sent = r.Dispatch(id) },
					func() { r.Cancel(id, nil) },
				}, func() string {
					e, ok := errors.AsType[*engine.CallError](r.outcome(c).Err)
					require.True(t, ok)
					return say(sent, " ", e.Sent)
				}
		})
	})
}

// A stale id meets the next call of its slot: it settles nothing.
func TestLitmusStaleResolveBegin(t *testing.T) {
	r := newRig(t, options{MaxPending: 1}, engine.Tuning{})
	litmus{allowed: []string{"false false pending"}}.run(t, func(n int) ([]func(), func() string) {
		first := r.begin(call{})
		require.True(t, r.Resolve(first.ID(), "first"))
		var second handle
		var stale, staleCancel bool
		return []func(){
				func() {
					first.Discard()
					second = r.begin(call{})
				},
				func() { stale = r.Resolve(first.ID(), "late") },
				func() { staleCancel = first.Cancel(nil) },
			}, func() string {
				o, settled := second.Outcome()
				r.Resolve(second.ID(), "second")
				second.Discard()
				if settled {
					return say(stale, " ", staleCancel, " ", o)
				}
				return say(stale, " ", staleCancel, " pending")
			}
	})
	r.quiet()
}

// The context of a Wait ends while the answer comes.
func TestLitmusContextResolve(t *testing.T) {
	bothKinds(t, options{}, func(t *testing.T, r *rig) {
		litmus{allowed: []string{"true v", "false cancelled"}}.run(t, func(n int) ([]func(), func() string) {
			c := r.begin(call{})
			id := c.ID()
			ctx, cancel := context.WithCancel(context.Background())
			var resolved bool
			var v string
			var err error
			return []func(){
					func() { v, err = c.Wait(ctx) },
					func() { resolved = r.Resolve(id, "v") },
					cancel,
				}, func() string {
					if errors.Is(err, engine.ErrCancelled) {
						return say(resolved, " cancelled")
					}
					return say(resolved, " ", v)
				}
		})
		r.quiet()
	})
}
