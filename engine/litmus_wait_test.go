package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/engine"
)

// took says what one who attends a call got: its value, or that another had it.
func took(v string, err error) string {
	if errors.Is(err, engine.ErrConsumed) {
		return "consumed"
	}
	if err != nil {
		return "error " + err.Error()
	}
	return v
}

// A waiter parks while the answer comes: it is woken, always, and no token is left
// for the next call of the slot.
func TestLitmusWaitResolve(t *testing.T) {
	bothKinds(t, options{MaxPending: 1}, func(t *testing.T, r *rig) {
		litmus{allowed: []string{"true v"}}.run(t, func(n int) ([]func(), func() string) {
			c := r.begin(call{Timeout: engine.NoTimeout})
			id := c.ID()
			var resolved bool
			var v string
			var err error
			return []func(){
				func() { v, err = c.Wait(nil) },
				func() { resolved = r.Resolve(id, "v") },
			}, func() string { return say(resolved, " ", took(v, err)) }
		})
		r.quiet()
	})
}

// Two wait for one call while its answer comes: one has it.
func TestLitmusWaitWait(t *testing.T) {
	bothKinds(t, options{MaxPending: 1}, func(t *testing.T, r *rig) {
		litmus{allowed: []string{"v consumed", "consumed v"}}.run(t, func(n int) ([]func(), func() string) {
			c := r.begin(call{Timeout: engine.NoTimeout})
			id := c.ID()
			var v, w string
			var verr, werr error
			return []func(){
				func() { v, verr = c.Wait(nil) },
				func() { w, werr = c.Wait(nil) },
				func() { r.Resolve(id, "v") },
			}, func() string { return say(took(v, verr), " ", took(w, werr)) }
		})
		r.quiet()
	})
}

// The same when it is settled already.
func TestLitmusWaitOutcome(t *testing.T) {
	bothKinds(t, options{MaxPending: 1}, func(t *testing.T, r *rig) {
		litmus{allowed: []string{"v consumed", "consumed v"}}.run(t, func(n int) ([]func(), func() string) {
			c := r.begin(call{})
			r.Resolve(c.ID(), "v")
			var v string
			var err error
			var o outcome
			return []func(){
				func() { v, err = c.Wait(nil) },
				func() { o, _ = c.Outcome() },
			}, func() string { return say(took(v, err), " ", took(o.Value, o.Err)) }
		})
		r.quiet()
	})
}

// A call is discarded while its answer comes: the answer counts and nobody has it.
func TestLitmusDiscardResolve(t *testing.T) {
	bothKinds(t, options{MaxPending: 1}, func(t *testing.T, r *rig) {
		litmus{allowed: []string{"true consumed"}}.run(t, func(n int) ([]func(), func() string) {
			c := r.begin(call{})
			id := c.ID()
			var resolved bool
			return []func(){
				c.Discard,
				func() { resolved = r.Resolve(id, "v") },
			}, func() string { return say(resolved, " ", took("", r.outcome(c).Err)) }
		})
		r.quiet()
	})
}

// Discard meets a Wait: the waiter has the answer, or was too late to ask.
func TestLitmusDiscardWaitResolve(t *testing.T) {
	bothKinds(t, options{MaxPending: 1}, func(t *testing.T, r *rig) {
		litmus{allowed: []string{"true v", "true consumed"}}.run(t, func(n int) ([]func(), func() string) {
			c := r.begin(call{})
			id := c.ID()
			var resolved bool
			var v string
			var err error
			return []func(){
				c.Discard,
				func() { v, err = c.Wait(nil) },
				func() { resolved = r.Resolve(id, "v") },
			}, func() string { return say(resolved, " ", took(v, err)) }
		})
		r.quiet()
	})
}

// A channel of Done is closed, whichever of asking, discarding and settling comes
// first, and however many ask.
func TestLitmusDoneSettle(t *testing.T) {
	bothKinds(t, options{MaxPending: 1}, func(t *testing.T, r *rig) {
		litmus{allowed: []string{"true"}}.run(t, func(n int) ([]func(), func() string) {
			c := r.begin(call{Timeout: engine.NoTimeout})
			id := c.ID()
			var a, b <-chan struct{}
			settled := false
			racers := []func(){
				func() { a = c.Done() },
				func() { b = c.Done() },
				func() { settled = r.Resolve(id, "v") },
			}
			if n%3 == 0 {
				racers[2] = func() { c.Discard(); settled = true }
			}
			return racers, func() string {
				if n%3 == 0 {
					r.Resolve(id, "v")
				}
				<-a
				<-b
				c.Discard()
				return say(settled)
			}
		})
		r.quiet()
	})
}

// Whoever comes for an outcome as its grace ends has it, or it was reclaimed and
// counted.
func TestLitmusOutcomeReclaim(t *testing.T) {
	bothKinds(t, options{Grace: time.Millisecond}, func(t *testing.T, r *rig) {
		reclaimed := uint64(0)
		litmus{allowed: []string{"v 0", "consumed 1"}}.run(t, func(n int) ([]func(), func() string) {
			c := r.begin(call{Timeout: time.Millisecond})
			require.True(t, r.Resolve(c.ID(), "v"))
			var o outcome
			return []func(){
					func() { o, _ = c.Outcome() },
					func() { r.expire(3 * time.Millisecond) },
				}, func() string {
					more := r.Stats().Reclaimed - reclaimed
					reclaimed += more
					return say(took(o.Value, o.Err), " ", more)
				}
		})
		r.quiet()
	})
}

// A slot comes free as one joins the queue for it: whoever waits gets it.
func TestLitmusFreeQueue(t *testing.T) {
	bothKinds(t, options{MaxPending: 1, Overflow: engine.OverflowWait}, func(t *testing.T, r *rig) {
		litmus{allowed: []string{"ok"}}.run(t, func(n int) ([]func(), func() string) {
			first := r.begin(call{Discard: true})
			id := first.ID()
			var second, third handle
			return []func(){
					func() { r.Resolve(id, "v") },
					func() { second = r.begin(call{Discard: true}); r.Resolve(second.ID(), "v") },
					func() { third = r.begin(call{Notify: func(outcome) {}}); r.Cancel(third.ID(), nil) },
				}, func() string {
					return "ok"
				}
		})
		r.quiet()
	})
}

// Whoever attends a call whose outcome is not kept is told so, also in the moment
// when it is being settled.
func TestLitmusAttendUnkept(t *testing.T) {
	for name, o := range map[string]call{"callback": {Notify: func(outcome) {}}, "discarded": {Discard: true}} {
		t.Run(name, func(t *testing.T) {
			bothKinds(t, options{MaxPending: 1}, func(t *testing.T, r *rig) {
				litmus{allowed: []string{"true consumed"}}.run(t, func(n int) ([]func(), func() string) {
					c := r.begin(o)
					id := c.ID()
					var cancelled bool
					var err error
					attend := func() { _, err = c.Wait(nil) }
					if n%2 == 0 {
						attend = func() { <-c.Done(); err = engine.ErrConsumed }
					}
					return []func(){
						func() { cancelled = r.Cancel(id, nil) },
						attend,
						c.Discard,
					}, func() string { return say(cancelled, " ", took("", err)) }
				})
				r.quiet()
			})
		})
	}
}

// Discard never blocks: a callback of FailAll may discard what the same FailAll has
// claimed and not settled yet.
func TestDiscardInCallbackOfFailAll(t *testing.T) {
	bothKinds(t, options{}, func(t *testing.T, r *rig) {
		var others []handle
		for range 8 {
			others = append(others, r.begin(call{}))
			r.begin(call{Notify: func(outcome) {
				for _, c := range others {
					c.Discard()
				}
			}})
		}
		require.Equal(t, 16, r.FailAll(errGone, false))
		for _, c := range others {
			require.ErrorIs(t, r.outcome(c).Err, engine.ErrConsumed)
		}
		r.quiet()
	})
}
