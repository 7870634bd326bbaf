package engine_test

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/engine"
)

// Expiring brackets the calls that expire in one run, with their hooks and
// callbacks, and hears nothing of runs in which none does.
func TestExpiringBracketsWhatExpires(t *testing.T) {
	const n = 600 // more than the driver takes out of the wheel at a time
	var heard []string
	add := func(what string) {
		if len(heard) == 0 || heard[len(heard)-1] != what {
			heard = append(heard, what)
		}
	}
	o := options{
		Expiring:  func(on bool) { heard = append(heard, map[bool]string{true: "begin", false: "end"}[on]) },
		OnAbandon: func(engine.Abandonment) { add("expired") },
	}
	eachKind(t, o, func(t *testing.T, r *rig) {
		heard = nil
		ended := 0
		for range n {
			r.begin(call{Timeout: time.Second, Notify: func(outcome) { ended++ }})
		}
		r.expire(time.Second)
		require.Equal(t, n, ended)
		require.Equal(t, []string{"begin", "expired", "end"}, heard)

		heard = nil
		a, b := r.begin(call{Timeout: time.Second}), r.begin(call{Timeout: time.Second})
		require.True(t, r.Resolve(a.ID(), "v"))
		require.True(t, r.Cancel(b.ID(), nil))
		r.expire(time.Second)
		require.Equal(t, []string{"expired"}, heard, "of what was cancelled, and of no run")
		r.outcome(a)
		r.outcome(b)
		r.quiet()
	})
}

// A callback that ends the driver's goroutine ends the bracket as well, and one that
// panics leaves it as it is.
func TestExpiringEndsWhenACallbackLeaves(t *testing.T) {
	var begun, ended int
	o := options{Expiring: func(on bool) {
		if on {
			begun++
		} else {
			ended++
		}
		panic("a hook's bug")
	}}
	eachKind(t, o, func(t *testing.T, r *rig) {
		begun, ended = 0, 0
		told := make(chan struct{}, 2)
		r.begin(call{Timeout: time.Second, Notify: func(outcome) { told <- struct{}{}; runtime.Goexit() }})
		r.begin(call{Timeout: time.Second, Notify: func(outcome) { told <- struct{}{} }})
		for len(told) < cap(told) {
			apart(func() { r.expire(time.Second) })
		}
		require.Positive(t, begun)
		require.Equal(t, begun, ended)
		require.EqualValues(t, 2*begun, r.quiet().Panics)
	})
}

// Detach gets the memory of the call, and that of no other.
func TestDetachGetsTheCallsMemory(t *testing.T) {
	var got []string
	o := options{Detach: func(v, into string) string { got = append(got, into); return v }}
	eachKind(t, o, func(t *testing.T, r *rig) {
		got = nil
		resolve := func(o call) {
			c := r.begin(o)
			require.True(t, r.Resolve(c.ID(), "v"))
			require.Equal(t, "v", r.outcome(c).Value)
		}
		resolve(call{Into: "mine"})
		resolve(call{})
		require.Equal(t, []string{"mine", ""}, got)

		// What ends otherwise gives nobody the memory: quiet looks at free slots.
		ends := []func(h handle){
			func(h handle) { require.True(t, r.Reject(h.ID(), errors.New("no"))) },
			func(h handle) { require.True(t, h.Cancel(nil)) },
			func(handle) { r.expire(time.Second) },
			func(h handle) {
				_, err := h.Wait(doneContext)
				require.Error(t, err)
			},
		}
		for i, end := range ends {
			h := r.begin(call{Into: "mine", Timeout: time.Second})
			end(h)
			if i < len(ends)-1 {
				o := r.outcome(h)
				require.Error(t, o.Err)
				require.Empty(t, o.Value)
			}
		}
		r.begin(call{Into: "mine", Discard: true})
		r.FailAll(nil, false)
		for _, end := range []func(h handle) bool{
			func(h handle) bool { return r.Resolve(h.ID(), "v") },
			func(h handle) bool { return h.Cancel(nil) },
		} {
			h := r.begin(call{Into: "mine"})
			h.Discard()
			require.True(t, end(h))
		}
		require.Len(t, got, 2)
		r.quiet()
	})
}
