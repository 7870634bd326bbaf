package conn_test

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
)

// tryTape is a tape to which whoever queues something may write.
type tryTape struct{ *tape }

func (t tryTape) TryWrite(p []byte) (int, error) { return t.Write(p) }

// Calls that expire together, and those that their callbacks make, share write
// calls, and all of them are written.
func TestWhatExpiresTogetherIsWrittenTogether(t *testing.T) {
	const calls = 2000
	clock := engine.NewManualClock()
	ours, theirs := newTape()
	c, err := conn.New(tryTape{ours}, conn.Options{MaxPending: 2 * calls, Clock: clock})
	require.NoError(t, err)
	defer c.Close()
	var expired atomic.Int64
	again := func(o conn.Outcome) {
		expired.Add(1)
		_, err := c.Start(background, "again", nil, conn.CallOptions{Timeout: time.Minute, NoWait: true}, nil)
		if err != nil {
			t.Errorf("a call after one that expired: %v", err)
		}
	}
	p := &peer{t: t, in: theirs.lines()}
	for range calls {
		_, err := c.Start(background, "m", nil, conn.CallOptions{Timeout: time.Second}, again)
		require.NoError(t, err)
	}
	for range calls {
		require.Equal(t, "m", p.read().Method)
	}
	writes := c.Stats().Writes
	clock.Advance(1001 * time.Millisecond)
	require.EqualValues(t, calls, expired.Load())
	got := map[string]int{}
	for range 2 * calls {
		got[p.read().Method]++
	}
	require.Equal(t, map[string]int{"notifications/cancelled": calls, "again": calls}, got)
	require.Less(t, c.Stats().Writes-writes, uint64(calls/10), "of %d frames", 2*calls)
	require.NoError(t, c.Close())
	<-c.Done()
}

// A callback that does not return keeps its own deadlines from passing, and
// nothing from being written: neither a cancel of before nor a call of its own.
func TestNothingIsHeldByACallbackThatBlocks(t *testing.T) {
	clock := engine.NewManualClock()
	c, p := connect(t, conn.Options{Clock: clock})
	release := make(chan struct{})
	_, err := c.Start(background, "slow", nil, conn.CallOptions{Timeout: time.Second}, func(conn.Outcome) {
		_, _ = c.Start(background, "again", nil, conn.CallOptions{Timeout: time.Hour, NoWait: true}, nil)
		<-release
	})
	require.NoError(t, err)
	other, err := c.Start(background, "other", nil, conn.CallOptions{Timeout: time.Hour}, nil)
	require.NoError(t, err)
	slow, _ := p.read(), p.read()

	over := make(chan struct{})
	go func() {
		defer close(over)
		clock.Advance(1001 * time.Millisecond)
	}()
	got := map[string]string{}
	for range 2 {
		m := p.read()
		got[m.Method] = string(m.Params)
	}
	require.Contains(t, got, "again")
	require.JSONEq(t, `{"requestId":`+string(slow.ID)+`,"reason":"timeout"}`, got["notifications/cancelled"])
	// What others cancel meanwhile, and again once more, is written too.
	require.True(t, c.Cancel(other, nil))
	require.Equal(t, "notifications/cancelled", p.read().Method)
	_, err = c.Start(background, "later", nil, conn.CallOptions{}, nil)
	require.NoError(t, err)
	require.Equal(t, "later", p.read().Method)
	close(release)
	<-over
}

// The same over a socket, where whoever queues may write: a few calls at a time
// expire for a while, each of which is cancelled once and made again.
func TestExpiryOverASocketLosesNothing(t *testing.T) {
	const calls, rounds = 64, 20
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	ours, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	theirs, err := l.Accept()
	require.NoError(t, err)
	defer theirs.Close()
	go func() { _, _ = io.Copy(io.Discard, theirs) }()
	c, err := conn.New(ours, conn.Options{})
	require.NoError(t, err)
	done := make(chan struct{}, calls)
	for range calls {
		left := rounds
		var next func(conn.Outcome)
		start := func() {
			if _, err := c.Start(background, "m", nil, conn.CallOptions{Timeout: 2 * time.Millisecond, NoWait: true}, next); err != nil {
				t.Errorf("start: %v", err)
				done <- struct{}{}
			}
		}
		next = func(conn.Outcome) {
			if left--; left == 0 {
				done <- struct{}{}
				return
			}
			start()
		}
		start()
	}
	for range calls {
		<-done
	}
	require.NoError(t, c.Flush(background))
	s := c.Stats()
	require.EqualValues(t, calls*rounds, s.FramesOut+s.Skipped, "each was sent, or had expired before")
	require.Equal(t, s.FramesOut, s.CancelsOut)
	require.NoError(t, c.Close())
	<-c.Done()
}
