package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// script is the bytes that a history is read from. When they are used up it goes
// on with zeros.
type script struct {
	bytes []byte
	at    int
}

func (s *script) more() bool { return s.at < len(s.bytes) }

func (s *script) next() byte {
	if !s.more() {
		return 0
	}
	s.at++
	return s.bytes[s.at-1]
}

func (s *script) pick(n int) int { return int(s.next()) % n }

// choose reads one of several values.
func choose[V any](s *script, values ...V) V { return values[s.pick(len(values))] }

func (s *script) shape() shape {
	source := s.pick(4)
	most := 1 + s.pick(6)
	return shape{
		callerIDs:  source >= 2,
		text:       source == 3,
		reserve:    source == 1,
		maxPending: most,
		slotsMax:   most + s.pick(40),
		genBits:    choose(s, 1, 2, 3, 4, 28),
		grace:      choose(s, 5*time.Second, -1, time.Millisecond),
		idle:       choose(s, engine.NoTimeout, 3*time.Millisecond),
		wait:       s.pick(2) == 1,
		stripes:    choose(s, 0, 1, 3),
		origin:     choose[uint32](s, 0, 1<<32-5, 1<<31-2),
		observed:   s.pick(2) == 1,
	}
}

// play runs the history that the bytes stand for.
func (m *twin) play() {
	for m.script.more() {
		m.step()
	}
	m.finish()
}

func (m *twin) step() {
	m.follow()
	switch m.script.pick(20) {
	case 0, 1:
		m.begin(kept)
	case 2:
		m.begin(called)
	case 3:
		m.begin(dropped)
	case 4:
		m.reserve()
	case 5, 6:
		m.resolve(m.someID())
	case 7:
		m.reject(m.someID())
	case 8:
		m.cancel()
	case 9:
		m.onSome(m.take)
	case 10:
		m.onSome(m.wait)
	case 11:
		m.onSome(m.discard)
	case 12:
		m.touch(m.someID())
	case 13:
		m.dispatch(m.someID())
	case 14:
		m.advance(time.Duration(m.script.pick(40)) * 300 * time.Microsecond)
	case 15:
		m.advance(choose(m.script, time.Second, 66*time.Second, 20*24*time.Hour, 500*24*time.Hour))
	case 16:
		m.failAll()
	case 17:
		m.inspect(m.someID())
	case 18:
		m.onSome(m.watch)
	default:
		if m.script.next() == 7 {
			m.closeAll(errors.New("closed by the history"))
		}
	}
	m.follow()
}

// some is one of the last calls, nil when there is none.
func (m *twin) some() *twinCall {
	back := m.script.pick(12)
	if len(m.calls) == 0 {
		return nil
	}
	return m.calls[max(len(m.calls)-1-back, 0)]
}

func (m *twin) onSome(do func(*twinCall)) {
	if c := m.some(); c != nil {
		do(c)
	}
}

// someID is the id of one of the last calls, or one that was never a call's.
func (m *twin) someID() codec.ID {
	c := m.some()
	if c == nil || m.script.pick(16) == 0 {
		return choose(m.script, codec.IntID(5), codec.IntID(1<<24|3), codec.IntID(15<<24), codec.StringID("x"), codec.ID{})
	}
	return c.id
}

// newID is an id for a call that is about to be registered: a fresh one, or one of
// a few that come again and again.
func (m *twin) newID() codec.ID {
	if m.script.pick(3) > 0 {
		if m.shape.text {
			return codec.StringID(fmt.Sprint("k", m.script.pick(4)))
		}
		return codec.IntID(m.counted + int64(m.script.pick(4)) - 1)
	}
	return m.nextNumber()
}

// nextNumber is NextID with callers' ids: the next number whose call is not pending.
func (m *twin) nextNumber() codec.ID {
	id := m.e.NextID()
	for {
		m.counted++
		if _, pending := m.live[codec.IntID(m.counted)]; !pending || m.busy > 0 && codec.IntID(m.counted) == id {
			break
		}
	}
	require.Equal(m.t, codec.IntID(m.counted), id)
	return id
}

func (m *twin) begin(kind callKind) {
	c := &twinCall{
		kind:   kind,
		method: choose(m.script, "", "tools/call"),
		total:  choose(m.script, 0, engine.NoTimeout, 2*time.Millisecond, 9*time.Millisecond, time.Second, 400*24*time.Hour),
		idle:   choose(m.script, engine.NoTimeout, 0, 4*time.Millisecond, 2500*time.Microsecond),
		born:   m.clock.Now(),
	}
	o := call{Method: c.method, Timeout: c.total, IdleTimeout: c.idle, Discard: kind == dropped}
	if kind == called {
		c.act = m.script.next()
		o.Notify = func(o outcome) { m.notified(c, o) }
	}
	c.total, c.idle = budget(c.total, engine.DefaultTimeout), budget(c.idle, m.shape.idle)
	c.touched = c.born
	o.NoWait = m.script.pick(2) == 1
	var ctx context.Context
	if !o.NoWait {
		ctx = doneContext // nobody makes room while this goroutine waits for it
	}
	id := codec.ID{}
	switch {
	case m.shape.callerIDs:
		id = m.newID()
	case m.shape.reserve && m.script.pick(4) > 0:
		id = m.reserve()
		if c := m.some(); c != nil && m.script.pick(4) == 0 {
			id = c.id // a used one
		}
	}
	m.register(ctx, id, c, o)
}

// budget is what a timeout comes to, 0 for none.
func budget(own, engines time.Duration) time.Duration {
	if own == 0 {
		own = engines
	}
	return max(own, 0)
}

func (m *twin) register(ctx context.Context, id codec.ID, c *twinCall, o call) {
	c.id, c.still = id, m.closed != nil
	if c.still {
		c.status, c.err, c.gone = engine.Failed, m.closed, c.kind != kept
	}
	_, duplicate := m.live[id]
	_, given := m.reserved[id]
	if given { // also when the table is closed: its slot is given back then
		delete(m.reserved, id)
	}
	minted := id.IsAbsent()
	var err error
	if minted {
		c.h, err = m.e.Begin(ctx, o)
	} else {
		c.h, err = m.e.Register(ctx, id, o)
	}
	switch {
	case c.still:
		require.NoError(m.t, err)
		if given {
			m.freed(engine.GenOf(id))
		}
		m.calls = append(m.calls, c)
		return
	case !minted && !m.shape.callerIDs && !given:
		want := engine.ErrUnknownID
		if duplicate {
			want = engine.ErrDuplicateID
		}
		require.ErrorIs(m.t, err, want)
		return
	case given:
		require.NoError(m.t, err)
	}
	if err == nil {
		c.id = c.h.ID()
		require.True(m.t, minted || c.id == id)
		require.NotContains(m.t, m.live, c.id)
		m.live[c.id] = c
		m.calls = append(m.calls, c)
	}
	m.follow() // a full table looks for what it can reclaim
	if !given && m.busy == 0 {
		m.admitted(err, o.NoWait, duplicate)
	}
}

// admitted compares what registering said with the room there is.
func (m *twin) admitted(err error, noWait, duplicate bool) {
	room := m.room()
	if err == nil {
		room++ // there was, for this one
	}
	switch {
	case room <= 0 && m.retired == m.shape.slotsMax:
		require.ErrorIs(m.t, err, engine.ErrIDsExhausted)
	case room <= 0 && m.shape.wait && !noWait:
		require.ErrorIs(m.t, err, engine.ErrCancelled)
		require.ErrorIs(m.t, err, context.Canceled)
	case room <= 0:
		require.ErrorIs(m.t, err, engine.ErrFull)
	case duplicate:
		require.ErrorIs(m.t, err, engine.ErrDuplicateID)
	default:
		require.NoError(m.t, err, "there is room for %d", room)
	}
}

func (m *twin) reserve() codec.ID {
	if m.shape.callerIDs {
		m.nextNumber()
		return codec.ID{}
	}
	id := m.e.NextID()
	m.follow()
	if m.busy == 0 {
		require.Equal(m.t, m.room() <= 0, id.IsAbsent())
	}
	if !id.IsAbsent() {
		require.False(m.t, slices.ContainsFunc(m.calls, func(c *twinCall) bool { return c.id == id }), "given twice")
		m.reserved[id] = m.clock.Now()
	}
	return id
}
