package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// settling is a step that settles the call of id: the twin settles it first, for
// its callback may look at everything.
func (m *twin) settling(id codec.ID, status engine.Status, value string, err error, do func() bool) {
	c := m.live[id]
	if c != nil {
		m.settle(c, status, value, err)
	} else if status == engine.Resolved || status == engine.Rejected {
		m.missed++
	}
	require.Equal(m.t, c != nil, do())
	if c != nil && c.kind == called {
		require.Equal(m.t, 1, c.told)
	}
}

func (m *twin) resolve(id codec.ID) {
	v := fmt.Sprint("v", m.script.at)
	m.settling(id, engine.Resolved, v, nil, func() bool { return m.e.Resolve(id, v) })
}

func (m *twin) reject(id codec.ID) {
	err := &codec.Error{Code: int64(m.script.at), Message: "no"}
	m.settling(id, engine.Rejected, "", err, func() bool { return m.e.Reject(id, err) })
}

func (m *twin) cancel() {
	err := choose(m.script, nil, errors.New("gave up"))
	if m.script.pick(2) == 0 {
		id := m.someID()
		m.settling(id, engine.Cancelled, "", err, func() bool { return m.e.Cancel(id, err) })
		return
	}
	m.onSome(func(c *twinCall) {
		if c.status != engine.Pending { // its id may be another's
			require.False(m.t, c.h.Cancel(err))
			return
		}
		m.settling(c.id, engine.Cancelled, "", err, func() bool { return c.h.Cancel(err) })
	})
}

// notified is the callback of a call.
func (m *twin) notified(c *twinCall, o outcome) {
	c.told++
	require.Equal(m.t, 1, c.told)
	if c.status == engine.Pending { // nobody announced it: a deadline passed
		at, limited := c.deadline()
		require.True(m.t, limited && m.clock.Now() >= at, "expired early")
		m.settle(c, engine.Expired, "", nil)
	}
	m.verify(c, o)
	if m.nested == 3 {
		return
	}
	m.nested++
	defer func() { m.nested-- }()
	m.busy++
	defer func() { m.busy-- }()
	switch c.act % 8 {
	case 0, 1, 2:
	case 3:
		m.panics++
		panic("of a callback")
	default:
		for range c.act%8 - 3 {
			m.step()
		}
	}
}

func (m *twin) failAll() {
	err := errors.New("all")
	n := m.fallen(err)
	m.busy++
	require.Equal(m.t, n, m.e.FailAll(err, false))
	m.busy--
}

// fallen settles all that is pending, and says how many that were.
func (m *twin) fallen(err error) int {
	n := len(m.live)
	for _, c := range m.calls {
		if c.status == engine.Pending {
			m.settle(c, engine.Failed, "", err)
		}
	}
	return n
}

func (m *twin) closeAll(err error) {
	if m.closed == nil {
		m.closed = err
	}
	n := m.fallen(m.closed)
	m.busy++
	require.Equal(m.t, n, m.e.FailAll(err, true))
	m.busy--
	require.True(m.t, m.e.Closed())
	require.Equal(m.t, m.closed, m.e.Failure())
}

func (m *twin) advance(d time.Duration) {
	if m.busy > 0 {
		return // the clock is advancing, or its time is being used
	}
	if m.clock.Now() > 200*365*24*time.Hour {
		return // a long history of leaps: the twin's own sums would overflow
	}
	m.busy++
	m.clock.Advance(d)
	m.busy--
}

// wait waits for a call that is settled, or with a context that has ended.
func (m *twin) wait(c *twinCall) {
	if c.status == engine.Pending && c.kind == kept {
		_, err := c.h.Wait(doneContext)
		m.settle(c, engine.Cancelled, "", doneContext.Err())
		m.verifyErr(c, err)
		m.consumed(c)
		return
	}
	if m.busy > 0 {
		return // it may be the very goroutine that is about to publish the outcome
	}
	v, err := c.h.Wait(choose(m.script, nil, doneContext))
	if c.gone || c.kind != kept {
		require.ErrorIs(m.t, err, engine.ErrConsumed)
		return
	}
	require.Equal(m.t, c.value, v)
	m.verifyErr(c, err)
	m.consumed(c)
}

func (m *twin) discard(c *twinCall) {
	c.h.Discard()
	switch {
	case c.kind != kept || c.gone:
	case c.status == engine.Pending:
		c.kind = dropped
		if c.done != nil {
			<-c.done
		}
	default:
		m.consumed(c)
	}
}

func (m *twin) watch(c *twinCall) {
	done := c.h.Done()
	if m.busy > 0 {
		return
	}
	if c.status != engine.Pending || c.kind != kept {
		<-done
		if c.done != nil {
			<-c.done
		}
		return
	}
	select {
	case <-done:
		require.Fail(m.t, "done, yet pending")
	default:
	}
	if c.done != nil {
		require.Equal(m.t, c.done, done)
	}
	c.done = done
}

func (m *twin) touch(id codec.ID) {
	c := m.live[id]
	require.Equal(m.t, c != nil, m.e.Touch(id))
	if c != nil {
		c.touched = m.clock.Now()
	}
}

func (m *twin) dispatch(id codec.ID) {
	c := m.live[id]
	require.Equal(m.t, c != nil, m.e.Dispatch(id))
	if c != nil {
		c.sent = true
	}
}

func (m *twin) inspect(id codec.ID) {
	c := m.live[id]
	method, ok := m.e.Method(id)
	require.Equal(m.t, c != nil, ok)
	age, ok := m.e.Age(id)
	require.Equal(m.t, c != nil, ok)
	if c != nil {
		require.Equal(m.t, c.method, method)
		require.Equal(m.t, m.clock.Now()-c.born, age)
	}
	s := m.e.Stats()
	require.Equal(m.t, len(m.live), s.Pending)
	require.LessOrEqual(m.t, s.Slots, m.shape.slotsMax)
}

func playHistory(t testing.TB, bytes []byte) {
	s := &script{bytes: bytes}
	newTwin(t, s.shape(), s).play()
}

// Random histories against the twin. A failure names the seed of its history.
func TestHistories(t *testing.T) {
	histories := 3_000
	if stressFull {
		histories = 100_000
	}
	seed := rand.Uint64()
	for n := range histories {
		history := seed + uint64(n)
		ok := t.Run("", func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("seed %d", history)
				}
			}()
			playHistory(t, randomHistory(history))
		})
		if !ok {
			return
		}
	}
}

func randomHistory(seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, seed))
	bytes := make([]byte, 40+rng.IntN(600))
	for i := range bytes {
		bytes[i] = byte(rng.Uint32())
	}
	return bytes
}

func FuzzEngine(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(randomHistory(seed))
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		if len(bytes) > 4096 {
			return
		}
		playHistory(t, bytes)
	})
}
