package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// within fails the test when f takes so long that it must be blocked.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("blocked")
	}
}

// Nobody who is told of a call that FailAll failed finds another one of them
// without its outcome: all have ended before the first is told of.
func TestFailAllSettlesAllBeforeItTells(t *testing.T) {
	const each = 40
	for _, closing := range []bool{false, true} {
		for _, who := range []string{"callback", "observer", "both"} {
			t.Run(who, func(t *testing.T) {
				var hear func()
				o := options{}
				if who != "callback" {
					o.Observer = func(engine.Settlement) { hear() }
				}
				eachKind(t, o, func(t *testing.T, r *rig) {
					var handles, watched, callbacks []handle
					heard, taken := 0, 0
					hear = func() {
						heard++
						for _, c := range handles {
							switch _, err := c.Wait(nil); {
							case errors.Is(err, errGone):
								taken++
							default:
								require.ErrorIs(t, err, engine.ErrConsumed)
							}
						}
						for _, c := range watched {
							<-c.Done()
						}
						for _, c := range callbacks {
							_, err := c.Wait(nil)
							require.ErrorIs(t, err, engine.ErrConsumed)
						}
						for _, c := range callbacks {
							require.False(t, c.Cancel(nil))
						}
						require.Zero(t, r.FailAll(errGone, closing))
					}
					parked := make(chan error, each)
					for range each {
						handles = append(handles, r.begin(call{}))
						c := r.begin(call{})
						c.Done()
						watched = append(watched, c)
						callbacks = append(callbacks, r.begin(call{Notify: func(outcome) {
							if who != "observer" {
								hear()
							}
						}}))
						c = r.begin(call{})
						go func() {
							_, err := c.Wait(nil)
							parked <- err
						}()
						eventually(t, "a parked waiter", c.Parked)
						r.begin(call{Discard: true})
					}
					within(t, func() { require.Equal(t, 5*each, r.FailAll(errGone, closing)) })
					require.Equal(t, each, taken)
					require.NotZero(t, heard)
					for range each {
						require.ErrorIs(t, <-parked, errGone)
					}
					for _, c := range watched {
						require.ErrorIs(t, r.outcome(c).Err, errGone)
					}
					r.quiet()
				})
			})
		}
	}
}

// Every kind of function that the engine calls may use the engine, whoever settled
// the call it is called for.
func TestEveryFunctionMayUseTheEngine(t *testing.T) {
	for _, hook := range []string{"callback", "observer", "abandon", "panic"} {
		for way := range endings {
			for _, last := range []string{"fail", "close"} {
				t.Run(hook+"/"+way+"/"+last, func(t *testing.T) {
					var r *rig
					var other handle
					busy, ran := false, 0
					use := func(at string) {
						if at != hook || busy {
							return
						}
						busy = true
						defer func() { busy = false }()
						ran++
						closed := r.Closed()
						if way != "fail" && way != "close" {
							require.True(t, r.Touch(other.ID()))
							require.True(t, r.Dispatch(other.ID()))
							_, ok := r.Method(other.ID())
							require.True(t, ok)
							_, ok = r.Age(other.ID())
							require.True(t, ok)
							require.NotEmpty(t, r.Pending())
							require.True(t, r.Resolve(other.ID(), "v"))
						}
						_, err := other.Wait(nil)
						require.Equal(t, way == "fail" || way == "close", err != nil)
						r.Stats()
						c := r.begin(call{})
						require.Equal(t, !closed, r.Resolve(c.ID(), "v"))
						_, err = c.Wait(nil)
						require.Equal(t, closed, err != nil)
						c = r.begin(call{Notify: func(outcome) { ran++ }})
						require.Equal(t, !closed, r.Cancel(c.ID(), nil))
						c = r.begin(call{Discard: true})
						require.Equal(t, !closed, r.Reject(c.ID(), errGone))
						c = r.begin(call{})
						if !closed {
							require.Equal(t, 1, r.Len())
						}
						if last == "close" {
							require.NoError(t, r.Close())
						} else {
							r.FailAll(errGone, false)
						}
						_, err = c.Wait(nil)
						require.Error(t, err)
					}
					o := options{
						Observer:  func(engine.Settlement) { use("observer") },
						OnAbandon: func(engine.Abandonment) { use("abandon") },
						OnPanic:   func(any, []byte) { use("panic") },
					}
					bothKinds(t, o, func(t *testing.T, rig *rig) {
						r, ran = rig, 0
						other = r.begin(call{Timeout: time.Hour})
						c := r.begin(call{Timeout: time.Second, Notify: func(outcome) {
							use("callback")
							panicIf(hook == "panic" && !busy)
						}})
						within(t, func() { endings[way](r, []codec.ID{c.ID()}) })
						switch failing := way == "fail" || way == "close"; {
						case hook == "abandon" && way != "cancel" && way != "expire":
							require.Zero(t, ran)
							r.Close()
							r.outcome(other)
						case hook == "observer" && failing:
							require.Equal(t, 4, ran, "it hears of two calls")
						default:
							require.Equal(t, 2, ran)
						}
						r.quiet()
					})
				})
			}
		}
	}
}
