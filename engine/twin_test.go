package engine_test

import (
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

// linger is how long what has no deadline of its own is kept at least. A full table
// counts that in whole ticks.
func (m *twin) linger() time.Duration {
	return engine.DefaultTimeout + m.shape.grace - engine.DefaultTick
}

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
