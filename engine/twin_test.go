package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/wheel"
)

// A twin holds an engine to what a map of calls says: it does to both the same, one
// step after the other, and compares all there is to see. Where the engine has
// latitude (a deadline may be a tick late, an outcome is reclaimed some time after
// its grace) the twin allows the window, and then follows the engine.
type twin struct {
	t      testing.TB
	e      *engine.Engine[string]
	clock  *engine.ManualClock
	shape  shape
	script *script

	calls    []*twinCall
	live     map[codec.ID]*twinCall     // pending
	reserved map[codec.ID]time.Duration // minted ids that wait for being registered: since when
	closed   error                      // the stored failure
	ended    [engine.Failed + 1]uint64  // calls, by status
	missed   uint64                     // answers that settled nothing
	panics   uint64                     // of callbacks
	retired  int                        // slots
	counted  int64                      // ids of NextID, with callers' ids
	nested   int                        // callbacks running
	busy     int                        // sweeps and advances under way: the engine is between two states
}

// shape is the engine of a twin.
type shape struct {
	callerIDs, text, reserve bool
	maxPending, slotsMax     int
	genBits                  int
	grace                    time.Duration // negative is never
	idle                     time.Duration // of calls that name none
	wait                     bool          // OverflowWait
	stripes                  int
	origin                   uint32
	observed                 bool
}

type twinCall struct {
	h           engine.Call[string]
	id          codec.ID
	method      string
	kind        callKind
	total, idle time.Duration // 0 is none
	born        time.Duration
	touched     time.Duration
	sent        bool
	act         byte // what its callback does

	status    engine.Status
	value     string
	err       error
	settledAt time.Duration
	gone      bool // the outcome is not, or no more, for the handle
	still     bool // born failed
	told      int  // times its callback ran
	done      <-chan struct{}
}

type callKind uint8

const (
	kept callKind = iota
	called
	dropped
)

// lateMax is how late a deadline may come on the manual clock, whose timers are not
// late themselves: the tick in which it lies, the next where that stands for none,
// and the one to which an idle budget is rounded up.
const lateMax = 3 * time.Millisecond

func (c *twinCall) deadline() (at time.Duration, ok bool) {
	if c.total != 0 {
		at, ok = c.born+c.total, true
	}
	if idle := c.touched + c.idle; c.idle != 0 && (!ok || idle < at) {
		at, ok = idle, true
	}
	return at, ok
}

func newTwin(t testing.TB, s shape, script *script) *twin {
	m := &twin{
		t: t, shape: s, script: script, clock: engine.NewManualClock(),
		live: map[codec.ID]*twinCall{}, reserved: map[codec.ID]time.Duration{},
	}
	o := options{
		MaxPending: s.maxPending, CallerIDs: s.callerIDs, Grace: s.grace, IdleTimeout: s.idle, Clock: m.clock, Shards: 1,
	}
	if s.wait {
		o.Overflow = engine.OverflowWait
	}
	if s.observed {
		o.Observer = func(engine.Settlement) {}
	}
	e, err := engine.NewTuned(o, engine.Tuning{GenBits: s.genBits, SlotsMax: s.slotsMax, Stripes: s.stripes, Origin: wheel.Tick(s.origin)})
	require.NoError(t, err)
	m.e = e
	return m
}

// room is how many more calls the engine takes.
func (m *twin) room() int {
	in := len(m.reserved)
	for _, c := range m.calls {
		if !c.still && !c.gone {
			in++
		}
	}
	limit := min(m.shape.maxPending+m.retired, m.shape.slotsMax)
	return limit - m.retired - in
}

// freed does what is to do when a slot is free that was at a generation.
func (m *twin) freed(gen uint32) {
	if gen == 1<<m.shape.genBits-1 {
		m.retired++
	}
}

// settle is how a pending call ends.
func (m *twin) settle(c *twinCall, status engine.Status, value string, err error) {
	delete(m.live, c.id)
	c.status, c.value, c.err, c.settledAt = status, value, err, m.clock.Now()
	m.ended[status]++
	if c.kind != kept {
		c.gone = true
		m.freed(c.h.Gen())
	}
}

// follow compares what is pending and what was reclaimed. While the engine is busy
// (a callback runs) what is due may still be waiting for its turn.
func (m *twin) follow() {
	now := m.clock.Now()
	pending := m.e.Pending()
	require.Equal(m.t, len(pending), m.e.Len())
	for _, id := range pending {
		require.Contains(m.t, m.live, id, "settled, yet pending")
	}
	for _, c := range m.calls {
		if c.still || c.gone {
			continue
		}
		at, limited := c.deadline()
		switch {
		case c.status != engine.Pending:
			m.followOutcome(c, now)
		case slices.Contains(pending, c.id):
			require.False(m.t, m.busy == 0 && limited && now > at+lateMax, "%v is late: due at %v, now %v", c.id, at, now)
		default:
			require.True(m.t, limited && now >= at, "%v vanished: due at %v, now %v", c.id, at, now)
			require.NotEqual(m.t, called, c.kind, "expired, yet not told")
			m.settle(c, engine.Expired, "", nil)
			if c.kind == kept {
				m.followOutcome(c, now)
			}
		}
	}
	for id, since := range m.reserved {
		if !m.e.Reserved(id) {
			require.GreaterOrEqual(m.t, now, since+m.linger(), "reserved id reclaimed early")
			delete(m.reserved, id)
			m.freed(engine.GenOf(id))
		}
	}
}

// linger is how long what has no deadline of its own is kept.
func (m *twin) linger() time.Duration { return engine.DefaultTimeout + m.shape.grace }

// followOutcome looks whether a settled call's outcome was reclaimed.
func (m *twin) followOutcome(c *twinCall, now time.Duration) {
	due, limited := c.born+c.total, c.total != 0
	if !limited && c.idle != 0 {
		due, limited = c.touched+c.idle, true
	}
	if limited {
		due += m.shape.grace
	} else {
		due = c.settledAt + m.linger()
	}
	if c.h.Kept() {
		may := m.busy == 0 && m.closed == nil && m.shape.grace >= 0 && limited
		require.False(m.t, may && now > max(due+2*lateMax, c.settledAt), "%+v is kept beyond its grace, now %v", c, now)
		return
	}
	require.True(m.t, m.shape.grace >= 0 && now >= due, "%v was reclaimed early: due at %v, now %v", c.id, due, now)
	c.gone = true
	m.freed(c.h.Gen())
}

// verify holds an outcome to what the twin knows of the call.
func (m *twin) verify(c *twinCall, o outcome) {
	require.Equal(m.t, c.status.String(), o.Status.String())
	require.Equal(m.t, c.id, o.ID)
	require.Equal(m.t, c.value, o.Value)
	m.verifyErr(c, o.Err)
}

func (m *twin) verifyErr(c *twinCall, err error) {
	switch c.status {
	case engine.Resolved:
		require.NoError(m.t, err)
		return
	case engine.Rejected:
		require.Same(m.t, c.err, err)
		return
	}
	e, ok := errors.AsType[*engine.CallError](err)
	require.True(m.t, ok, "%v", err)
	require.Equal(m.t, c.id, e.ID)
	require.Equal(m.t, c.method, e.Method)
	require.Equal(m.t, c.status, e.Status)
	require.Equal(m.t, c.sent, e.Sent)
	require.Equal(m.t, c.status == engine.Expired, errors.Is(err, engine.ErrTimeout))
	require.Equal(m.t, c.status == engine.Cancelled, errors.Is(err, engine.ErrCancelled))
	if c.status != engine.Expired {
		require.True(m.t, c.err == nil && c.status == engine.Cancelled || errors.Is(err, c.err), "%v", err)
		return
	}
	require.LessOrEqual(m.t, e.Elapsed, m.clock.Now()-c.born)
	switch e.Deadline {
	case engine.DeadlineIdle:
		require.NotZero(m.t, c.idle)
		require.GreaterOrEqual(m.t, e.Budget, c.idle)
		require.GreaterOrEqual(m.t, e.Elapsed, c.touched-c.born+c.idle)
	case engine.DeadlineTotal:
		require.Equal(m.t, c.total, e.Budget)
		require.GreaterOrEqual(m.t, e.Elapsed, c.total)
	default:
		require.Fail(m.t, "no such deadline", "%v", e.Deadline)
	}
}

// finish ends everything and asks that all adds up.
func (m *twin) finish() {
	m.closeAll(fmt.Errorf("the end"))
	for id := range m.reserved {
		c, err := m.e.Register(nil, id, call{}) // a closed table gives its slot back
		require.NoError(m.t, err)
		c.Discard()
		m.freed(engine.GenOf(id))
	}
	for _, c := range m.calls {
		m.take(c)
		if c.kind == called {
			require.Equal(m.t, 1, c.told)
		}
	}
	s := requireQuiet(m.t, m.e)
	require.Equal(m.t, m.ended[engine.Resolved], s.Resolved)
	require.Equal(m.t, m.ended[engine.Rejected], s.Rejected)
	require.Equal(m.t, m.ended[engine.Cancelled], s.Cancelled)
	require.Equal(m.t, m.ended[engine.Expired], s.Expired)
	require.Equal(m.t, m.ended[engine.Failed], s.Failed)
	require.Equal(m.t, m.missed, s.Late+s.Duplicate+s.Unknown)
	require.Equal(m.t, m.panics, s.Panics)
	census, err := m.e.Census(func(v string) bool { return v == "" })
	require.NoError(m.t, err)
	require.Equal(m.t, m.retired, census.Retired)
}

// take asks for the outcome by a handle that need not have it.
func (m *twin) take(c *twinCall) {
	o, settled := c.h.Outcome()
	if m.busy > 0 && !settled {
		return // a callback came before this call's turn
	}
	require.Equal(m.t, c.status != engine.Pending || c.kind != kept, settled)
	switch {
	case !settled:
	case c.gone || c.kind != kept:
		require.ErrorIs(m.t, o.Err, engine.ErrConsumed)
		require.Equal(m.t, engine.Pending, o.Status)
	default:
		m.verify(c, o)
		m.consumed(c)
	}
}

func (m *twin) consumed(c *twinCall) {
	c.gone = true
	if !c.still {
		m.freed(c.h.Gen())
	}
}

var doneContext = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()
