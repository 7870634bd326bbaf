package serve

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
)

// slowly is a stream whose writes wait for step, if there is one.
type slowly struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	step chan error
}

func (s *slowly) Write(p []byte) (int, error) {
	if s.step != nil {
		if err := <-s.step; err != nil {
			return 0, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

// What gathers while a write is under way goes out in one.
func TestOutboxGathers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &slowly{step: make(chan error)}
		b := newOutbox(1<<20, 0)
		ended := make(chan error, 1)
		go func() { ended <- b.run(to) }()
		require.NoError(t, b.add([]byte("first"), nil))
		synctest.Wait()
		for range 1000 {
			require.NoError(t, b.add([]byte("more"), nil))
		}
		to.step <- nil
		to.step <- nil
		b.end()
		require.NoError(t, <-ended)
		require.Equal(t, "first\n"+strings.Repeat("more\n", 1000), to.buf.String())
		require.EqualValues(t, 2, b.writes.Load())
		require.Zero(t, b.held.Load())
		require.ErrorIs(t, b.add([]byte("late"), nil), ErrStopped)
	})
}

// Q1, Q3: a report costs the writer one wake-up, and its ack comes after the write.
// With the handler's own that makes two for each report.
func TestOutboxWakesOncePerAck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &slowly{}
		b := newOutbox(1<<20, 0)
		ended := make(chan error, 1)
		go func() { ended <- b.run(to) }()
		const reports = 500
		for i := range reports {
			acked := make(chan error, 1)
			require.NoError(t, b.add([]byte("report"), func(err error) { acked <- err }))
			require.NoError(t, <-acked)
			to.mu.Lock()
			require.Equal(t, (i+1)*len("report\n"), to.buf.Len())
			to.mu.Unlock()
		}
		require.LessOrEqual(t, b.wakes.Load(), uint64(reports))
		b.end()
		require.NoError(t, <-ended)
	})
}

// A write that fails ends the stream, and everybody who waits is told.
func TestOutboxFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &slowly{step: make(chan error)}
		b := newOutbox(10, 0)
		ended := make(chan error, 1)
		go func() { ended <- b.run(to) }()
		acks := make(chan error, 2)
		ack := func(err error) { acks <- err }
		require.NoError(t, b.add([]byte("a frame above the limit"), ack))
		synctest.Wait()
		require.NoError(t, b.add([]byte("another"), ack))
		room, full := b.full(1)
		require.True(t, full)
		to.step <- io.ErrClosedPipe
		require.ErrorIs(t, <-ended, io.ErrClosedPipe)
		require.ErrorIs(t, <-acks, io.ErrClosedPipe)
		require.ErrorIs(t, <-acks, io.ErrClosedPipe)
		<-room
		_, full = b.full(1)
		require.False(t, full, "nobody is to wait for a stream that ended")
		require.ErrorIs(t, b.add([]byte("late"), ack), io.ErrClosedPipe)
	})
}

// A stream that takes nothing is closed; one that takes a little is not.
func TestOutboxStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &slowly{step: make(chan error)}
		b := newOutbox(1<<20, time.Second)
		ended := make(chan error, 1)
		b.giveUp = func(err error) { to.step <- err }
		go func() { ended <- b.run(to) }()
		require.NoError(t, b.add(bytes.Repeat([]byte("x"), 3*writeBytes), nil))
		for range 3 {
			<-time.After(900 * time.Millisecond)
			to.step <- nil
		}
		began := time.Now()
		require.ErrorIs(t, <-ended, ErrStalled)
		require.Equal(t, time.Second, time.Since(began))
	})
}

func TestTailID(t *testing.T) {
	for tail, want := range map[string]string{
		`..."jsonrpc":"2.0","id":5}`:         "5",
		`...,"id" : "a\"b" } ` + "\r":        `"a\"b"`,
		`...,"id":-12345678901234567890123}`: "-12345678901234567890123",
		`...,"id":"é"}`:                      `"é"`,
		`{"id":0}`:                           "0",
		`...,"id":null}`:                     "",
		`...,"id":1.5}`:                      "",
		`...,"id":{}}`:                       "",
		`...,"id":true}`:                     "",
		`..."xid":5}`:                        "",
		`...\"id":5}`:                        "",
		`...,"id":5}]`:                       "",
		`...,"id":5`:                         "",
		`...,"id":"open}`:                    "",
		`}`:                                  "",
		``:                                   "",
		`5}`:                                 "",
		`"id":5}`:                            "",
	} {
		id, ok := tailID([]byte(tail))
		require.Equal(t, want != "", ok, tail)
		if ok {
			require.Equal(t, want, id.String(), tail)
		}
	}
}

// What is kept of a long line is its end, however it came in.
func TestTailFramer(t *testing.T) {
	line := strings.Repeat("x", 5000) + `,"id":7}` + "\n"
	for step := 1; step < len(line); step = step*3 + 1 {
		var got string
		f := &tailFramer{skipped: func(tail []byte) { got = string(tail) }}
		for at := 0; at < len(line); at += step {
			f.Resync([]byte(line[at:min(at+step, len(line))]))
		}
		require.Equal(t, line[len(line)-tailBytes:], got, "steps of %d", step)
	}
}

func TestTombstones(t *testing.T) {
	s := tombstones{most: 3, age: time.Minute}
	now := time.Unix(0, 0)
	require.False(t, s.take(1, now))
	for id := range 5 {
		s.add(mcpID(id), now)
	}
	require.False(t, s.take(mcpID(1), now), "the oldest went")
	require.True(t, s.take(mcpID(4), now))
	require.False(t, s.take(mcpID(4), now), "once")
	require.False(t, s.take(mcpID(3), now.Add(time.Minute)), "too old")
	require.Empty(t, s.at)
	require.Empty(t, s.order)
}

func mcpID(n int) mcp.InvocationID { return mcp.InvocationID(n) }
