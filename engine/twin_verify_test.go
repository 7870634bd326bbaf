package engine_test

import (
	"context"
	"errors"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/engine"
)

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
	m.closeAll(errors.New("the end"))
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
