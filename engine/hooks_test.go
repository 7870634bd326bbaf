package engine_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/engine"
)

// The observer hears of every call once, whatever became of it, after its outcome
// can be seen.
func TestObserverHearsEverySettlement(t *testing.T) {
	no, gone, why := errors.New("no"), errors.New("gone"), errors.New("why")
	for name, c := range map[string]struct {
		end    func(r *rig, h handle)
		status engine.Status
		err    error
	}{
		"resolve": {func(r *rig, h handle) { r.Resolve(h.ID(), "v") }, engine.Resolved, nil},
		"reject":  {func(r *rig, h handle) { r.Reject(h.ID(), no) }, engine.Rejected, no},
		"cancel":  {func(r *rig, h handle) { h.Cancel(why) }, engine.Cancelled, why},
		"expire":  {func(r *rig, h handle) { r.expire(27 * time.Second) }, engine.Expired, nil},
		"fail":    {func(r *rig, h handle) { r.FailAll(gone, false) }, engine.Failed, gone},
	} {
		for _, way := range []string{"handle", "callback", "discard"} {
			for _, sent := range []bool{false, true} {
				t.Run(name+" "+way, func(t *testing.T) {
					var heard []engine.Settlement
					eachKind(t, options{Observer: func(s engine.Settlement) { heard = append(heard, s) }}, func(t *testing.T, r *rig) {
						heard = nil
						o := call{Method: "tools/call", Timeout: 30 * time.Second, Discard: way == "discard"}
						if way == "callback" {
							o.Notify = func(outcome) { require.Len(t, heard, 1, "the observer comes first") }
						}
						h := r.begin(o)
						id := h.ID()
						r.clock.Advance(2 * time.Second)
						if sent {
							require.True(t, r.Dispatch(id))
						}
						r.clock.Advance(time.Second)
						c.end(r, h)
						require.Len(t, heard, 1)
						s := heard[0]
						require.Equal(t, id, s.ID)
						require.Equal(t, "tools/call", s.Method)
						require.Equal(t, c.status, s.Status)
						require.Equal(t, sent, s.Sent)
						require.Equal(t, c.err, s.Err)
						require.GreaterOrEqual(t, s.Elapsed, 3*time.Second)
						if sent {
							require.Equal(t, 2*time.Second, s.Queue)
						} else {
							require.Equal(t, s.Elapsed, s.Queue)
						}
						h.Outcome()
						r.quiet()
					})
				})
			}
		}
	}
}

// OnAbandon hears of what was cancelled and expired, for the peer to be told, and
// of nothing else.
func TestOnAbandonHearsOfWhatThePeerShouldStop(t *testing.T) {
	var heard []engine.Abandonment
	o := options{OnAbandon: func(a engine.Abandonment) { heard = append(heard, a) }}
	eachKind(t, o, func(t *testing.T, r *rig) {
		heard = nil
		begin := func() handle { return r.begin(call{Method: "m", Timeout: time.Second}) }
		a, b, c, d, e, f := begin(), begin(), begin(), begin(), begin(), begin()
		ids := []engine.Abandonment{
			{ID: a.ID(), Method: "m", Status: engine.Cancelled, Sent: true},
			{ID: b.ID(), Method: "m", Status: engine.Cancelled},
			{ID: c.ID(), Method: "m", Status: engine.Cancelled},
			{ID: d.ID(), Method: "m", Status: engine.Expired},
		}
		require.True(t, r.Dispatch(a.ID()))
		require.True(t, r.Cancel(a.ID(), nil))
		require.True(t, b.Cancel(nil))
		_, err := c.Wait(doneContext)
		require.Error(t, err)
		require.True(t, r.Resolve(e.ID(), "v"))
		require.True(t, r.Reject(f.ID(), errors.New("no")))
		r.expire(time.Second)
		r.begin(call{Discard: true})
		require.Equal(t, 1, r.FailAll(nil, false))
		require.Equal(t, ids, heard)
		for _, h := range []handle{a, b, d, e, f} {
			r.outcome(h)
		}
		r.quiet()
	})
}

// What panics in a user's function is counted and told; the call has ended, and the
// engine goes on.
func TestPanicsAreCounted(t *testing.T) {
	var told []any
	o := options{
		Observer:  func(s engine.Settlement) { panicIf(s.Method == "observer") },
		OnAbandon: func(a engine.Abandonment) { panicIf(a.Method == "abandon") },
		Detach:    func(v, _ string) string { panicIf(v == "detach"); return v },
		OnPanic: func(v any, stack []byte) {
			told = append(told, v)
			require.Contains(t, string(stack), "panicIf")
		},
	}
	eachKind(t, o, func(t *testing.T, r *rig) {
		told = nil
		panicking := func(outcome) { panicIf(true) }
		require.True(t, r.Resolve(r.begin(call{Notify: panicking}).ID(), "v"))
		require.True(t, r.Cancel(r.begin(call{Notify: panicking}).ID(), nil))
		r.begin(call{Notify: panicking, Timeout: time.Second})
		r.expire(time.Second)
		for range 3 {
			r.begin(call{Notify: panicking})
		}
		require.Equal(t, 3, r.FailAll(nil, false))
		require.Len(t, told, 6)

		c := r.begin(call{Method: "observer"})
		require.True(t, r.Resolve(c.ID(), "v"))
		require.Equal(t, "v", r.outcome(c).Value)
		c = r.begin(call{Method: "abandon"})
		require.True(t, r.Cancel(c.ID(), nil))
		require.ErrorIs(t, r.outcome(c).Err, engine.ErrCancelled)
		c = r.begin(call{})
		require.True(t, r.Resolve(c.ID(), "detach"))
		got := r.outcome(c)
		require.Equal(t, engine.Failed, got.Status, "a value that was only lent must not be kept")
		require.Error(t, got.Err)
		require.Empty(t, got.Value)
		require.Len(t, told, 9)
		require.Equal(t, uint64(9), r.quiet().Panics)
	})
}

func panicIf(yes bool) {
	if yes {
		panic("a user's bug")
	}
}

// A callback that ends its goroutine is survived as well.
func TestCallbackThatEndsItsGoroutine(t *testing.T) {
	eachKind(t, options{}, func(t *testing.T, r *rig) {
		c := r.begin(call{Notify: func(outcome) { runtime.Goexit() }})
		id := c.ID()
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.Resolve(id, "v")
		}()
		<-done
		require.Equal(t, uint64(1), r.quiet().Resolved)
	})
}

// Detach runs for what is kept for a waiter, and only for that.
func TestDetachOnlyForWaiters(t *testing.T) {
	detached := 0
	o := options{Detach: func(v, _ string) string { detached++; return strings.ToUpper(v) }}
	eachKind(t, o, func(t *testing.T, r *rig) {
		detached = 0
		c := r.begin(call{})
		require.True(t, r.Resolve(c.ID(), "v"))
		require.Equal(t, "V", r.outcome(c).Value)
		require.Equal(t, 1, detached)
		require.True(t, r.Resolve(r.begin(call{Discard: true}).ID(), "v"))
		require.True(t, r.Resolve(r.begin(call{Notify: func(o outcome) { require.Equal(t, "v", o.Value) }}).ID(), "v"))
		require.False(t, r.Resolve(c.ID(), "late"))
		c = r.begin(call{})
		require.True(t, r.Reject(c.ID(), errors.New("no")))
		r.outcome(c)
		require.Equal(t, 1, detached)
		r.quiet()
	})
}
