package engine_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

type (
	options = engine.Options[string]
	call    = engine.CallOptions[string]
	handle  = engine.Call[string]
	outcome = engine.Outcome[string]
)

// rig is an engine of strings on a clock that stands still, and a source of ids.
type rig struct {
	*engine.Engine[string]
	t     *testing.T
	clock *engine.ManualClock
	fresh func() codec.ID // nil when ids are minted
}

// newRig makes an engine that is checked for lost slots when the test ends.
func newRig(t *testing.T, o options, tune engine.Tuning) *rig {
	t.Helper()
	r := &rig{t: t, clock: engine.NewManualClock()}
	o.Clock = r.clock
	e, err := engine.NewTuned(o, tune)
	require.NoError(t, err)
	r.Engine = e
	return r
}

// eachKind runs a test with every source of ids.
func eachKind(t *testing.T, o options, test func(t *testing.T, r *rig)) {
	t.Helper()
	kinds(t, o, test, "minted", "reserved", "int", "string")
}

// bothKinds is eachKind for tests that take long.
func bothKinds(t *testing.T, o options, test func(t *testing.T, r *rig)) {
	t.Helper()
	kinds(t, o, test, "minted", "string")
}

func kinds(t *testing.T, o options, test func(t *testing.T, r *rig), kinds ...string) {
	t.Helper()
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			o := o
			o.CallerIDs = kind == "int" || kind == "string"
			r := newRig(t, o, engine.Tuning{})
			var n atomic.Int64
			switch kind {
			case "reserved", "int":
				r.fresh = r.NextID
			case "string":
				r.fresh = func() codec.ID { return codec.StringID(fmt.Sprintf("call-%d", n.Add(1))) }
			}
			test(t, r)
		})
	}
}

// begin registers a call that must be accepted.
func (r *rig) begin(o call) handle {
	r.t.Helper()
	var c handle
	var err error
	if r.fresh == nil {
		c, err = r.Begin(nil, o)
	} else {
		c, err = r.Register(nil, r.fresh(), o)
	}
	require.NoError(r.t, err)
	return c
}

// pending asks that the call is not settled.
func (r *rig) pending(c handle) {
	r.t.Helper()
	o, settled := c.Outcome()
	require.False(r.t, settled, "settled: %+v", o)
}

// outcome takes the outcome of a settled call.
func (r *rig) outcome(c handle) outcome {
	r.t.Helper()
	o, settled := c.Outcome()
	require.True(r.t, settled, "pending")
	return o
}

// quiet asks that nothing is pending, no slot lost and nothing kept alive.
func (r *rig) quiet() engine.Stats { r.t.Helper(); return requireQuiet(r.t, r.Engine) }

func requireQuiet[T comparable](t testing.TB, e *engine.Engine[T]) engine.Stats {
	t.Helper()
	require.Zero(t, e.Len())
	require.Empty(t, e.Pending())
	c, err := e.Census(func(v T) bool { var zero T; return v == zero })
	require.NoError(t, err)
	require.Zero(t, c.InUse, "%+v", c)
	require.Zero(t, c.Indexed, "%+v", c)
	require.Zero(t, c.Values, "%+v", c)
	s := e.Stats()
	require.Equal(t, s.Registered, s.Resolved+s.Rejected+s.Cancelled+s.Expired+s.Failed, "%+v", s)
	require.Zero(t, s.Pending)
	return s
}

// expire lets a timeout pass that began now: the deadline and the one tick after it.
func (r *rig) expire(d time.Duration) { r.clock.Advance(d + 2*time.Millisecond) }
