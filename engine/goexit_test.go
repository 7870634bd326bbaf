package engine_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// A test's FailNow, and whatever else calls runtime.Goexit, ends the goroutine of a
// user's function without returning and without a panic. What that goroutine was
// about to do for other calls is done all the same.

// apart runs f on a goroutine of its own, which f may end.
func apart(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// eventually waits for what other goroutines bring about.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !is(); runtime.Gosched() {
		require.True(t, time.Now().Before(deadline), "%s: has not come", what)
	}
}

// endings are the ways in which many calls can be settled by user's goroutines.
var endings = map[string]func(r *rig, ids []codec.ID){
	"resolve": func(r *rig, ids []codec.ID) {
		for _, id := range ids {
			apart(func() { r.Resolve(id, "v") })
		}
	},
	"reject": func(r *rig, ids []codec.ID) {
		for _, id := range ids {
			apart(func() { r.Reject(id, errGone) })
		}
	},
	"cancel": func(r *rig, ids []codec.ID) {
		for _, id := range ids {
			apart(func() { r.Cancel(id, nil) })
		}
	},
	"expire": func(r *rig, ids []codec.ID) {
		apart(func() { r.expire(time.Second) })
		for range ids {
			apart(func() { r.clock.Advance(0) })
		}
	},
	"fail":  func(r *rig, ids []codec.ID) { apart(func() { r.FailAll(errGone, false) }) },
	"close": func(r *rig, ids []codec.ID) { apart(func() { r.FailAll(errGone, true) }) },
}

// Whatever function of the user ends its goroutine, and whoever called it: every
// call ends, every other function is called, and deadlines still pass.
func TestFunctionsThatEndTheirGoroutine(t *testing.T) {
	const n = 600 // more than the driver takes out of the wheel at a time, and than callbacks nest
	for _, hook := range []string{"callback", "observer", "abandon", "detach", "panic"} {
		for way, end := range endings {
			t.Run(hook+"/"+way, func(t *testing.T) {
				var armed atomic.Bool
				var observed, abandoned, told atomic.Int64
				leave := func(at string) {
					if at == hook && armed.Load() {
						runtime.Goexit()
					}
				}
				o := options{
					Observer:  func(engine.Settlement) { observed.Add(1); leave("observer") },
					OnAbandon: func(engine.Abandonment) { abandoned.Add(1); leave("abandon") },
					Detach:    func(v, _ string) string { leave("detach"); return v },
					OnPanic:   func(any, []byte) { leave("panic") },
				}
				bothKinds(t, o, func(t *testing.T, r *rig) {
					armed.Store(true)
					observed.Store(0)
					abandoned.Store(0)
					told.Store(0)
					notify := func(outcome) {
						told.Add(1)
						leave("callback")
						panicIf(hook == "panic" && armed.Load())
					}
					var ids []codec.ID
					var kept, parked []handle
					waiters := make(chan error, n)
					for i := range n {
						o := call{Timeout: time.Second, IdleTimeout: engine.NoTimeout}
						if i%3 == 0 {
							o.Notify = notify
						}
						c := r.begin(o)
						ids = append(ids, c.ID())
						switch i % 3 {
						case 1:
							kept = append(kept, c)
						case 2:
							parked = append(parked, c)
							go func() {
								_, err := c.Wait(nil)
								waiters <- err
							}()
						}
					}
					for _, c := range parked {
						eventually(t, "a parked waiter", c.Parked)
					}
					end(r, ids)
					for _, c := range kept {
						select {
						case <-c.Done():
						case <-time.After(10 * time.Second):
							t.Fatal("a call was forgotten")
						}
						o := r.outcome(c)
						require.Equal(t, hook == "detach" && way == "resolve", o.Status == engine.Failed && way != "fail" && way != "close")
					}
					for range parked {
						select {
						case err := <-waiters:
							require.NotErrorIs(t, err, engine.ErrConsumed)
						case <-time.After(10 * time.Second):
							t.Fatal("a waiter was forgotten")
						}
					}
					eventually(t, "every callback", func() bool { return told.Load() == n/3 })
					eventually(t, "every observation", func() bool { return observed.Load() == n })
					if way == "cancel" || way == "expire" {
						eventually(t, "every abandonment", func() bool { return abandoned.Load() == n })
					}
					armed.Store(false)
					eventually(t, "rest", r.Resting)
					eventually(t, "the end of all callbacks", func() bool {
						_, err := r.Census(func(v string) bool { return v == "" })
						return err == nil
					})
					if !r.Closed() {
						c := r.begin(call{Timeout: time.Second})
						r.expire(time.Second)
						require.ErrorIs(t, r.outcome(c).Err, engine.ErrTimeout, "the driver goes on")
						nested := false
						outer := r.begin(call{Notify: func(outcome) {
							inner := r.begin(call{Notify: func(outcome) { nested = true }})
							r.Cancel(inner.ID(), nil)
						}})
						require.True(t, r.Resolve(outer.ID(), "v"))
						require.True(t, nested)
					}
					r.quiet()
				})
			})
		}
	}
}

// Callbacks that were put off because too many were running are not forgotten when
// the one that should have run them ends its goroutine.
func TestPutOffCallbacksOutliveTheirGoroutine(t *testing.T) {
	const chain = 1000
	for _, leavers := range []int{1, engine.DepthMax, chain} {
		t.Run(fmt.Sprint(leavers), func(t *testing.T) {
			bothKinds(t, options{}, func(t *testing.T, r *rig) {
				var told atomic.Int64
				ids := make([]codec.ID, chain)
				for n := range ids {
					ids[n] = r.begin(call{Notify: func(outcome) {
						told.Add(1)
						if n+1 < chain {
							require.True(t, r.Resolve(ids[n+1], "v"))
						}
						if n < leavers {
							runtime.Goexit()
						}
					}}).ID()
				}
				apart(func() { r.Resolve(ids[0], "v") })
				eventually(t, "the whole chain", func() bool { return told.Load() == chain })
				eventually(t, "the end of all callbacks", func() bool {
					_, err := r.Census(func(v string) bool { return v == "" })
					return err == nil
				})
				r.quiet()
			})
		})
	}
}
