package conn_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/internal/invariants"
)

func TestP02SlotsAreFreedOnEveryEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{MaxPending: 4, Grace: time.Millisecond})
		ends := map[string]func(m message){
			"error":   func(m message) { p.send(errorFor(m.ID, `{"code":1,"message":"no"}`)) },
			"string":  func(m message) { p.send(errorFor(m.ID, `"no"`)) },
			"invalid": func(m message) { p.send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":"` + "\xff" + `"}`) },
			"neither": func(m message) { p.send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `}`) },
			"timeout": func(m message) { require.Equal(t, "notifications/cancelled", p.read().Method) },
		}
		for name, end := range ends {
			// Four fill the table, one after the other and at once; the fifth goes out.
			for _, atOnce := range []int{1, 4} {
				var pending []<-chan reply
				var asked []message
				for range 4 {
					pending = append(pending, call(background, c, "m", "", conn.CallOptions{Timeout: time.Second}))
					asked = append(asked, p.read())
					if len(asked) < atOnce {
						continue
					}
					for i, m := range asked {
						end(m)
						require.Error(t, (<-pending[i]).err, name)
					}
					pending, asked = nil, nil
				}
				require.Zero(t, c.Stats().Calls.Pending, name)
				start := time.Now()
				fifth := call(background, c, "fifth", `1`, conn.CallOptions{Timeout: 50 * time.Millisecond})
				m := p.read()
				require.Equal(t, "fifth", m.Method, name)
				require.Zero(t, time.Since(start), name)
				p.result(m, "1")
				require.Equal(t, reply{"1", nil}, <-fifth, name)
				require.Zero(t, c.Stats().Calls.Pending, name)
			}
		}
		ctx, cancel := context.WithCancel(background)
		for range 4 {
			done := call(ctx, c, "m", "", conn.CallOptions{})
			p.read()
			defer func() { require.ErrorIs(t, (<-done).err, conn.ErrCancelled) }()
		}
		_, err := c.Call(background, "m", nil, conn.CallOptions{NoWait: true})
		require.ErrorIs(t, err, conn.ErrFull)
		cancel()
		for range 4 {
			p.read()
		}
		requireWorks(t, c, p)
	})
}

func TestP02InvalidAnswerFailsItsCall(t *testing.T) {
	c, p := connect(t, conn.Options{})
	done := call(background, c, "m", "", conn.CallOptions{Timeout: conn.NoTimeout})
	p.send(`{"jsonrpc":"2.0","id":` + string(p.read().ID) + `,"result":[1,]}`)
	err := (<-done).err
	require.ErrorIs(t, err, conn.ErrInvalidAnswer)
	sent, known := conn.Sent(err)
	require.True(t, sent && known)
	requireWorks(t, c, p)
}

// What the first wave of unanswered calls leaves is the table's own memory, which
// serves the later ones: they leave nothing. A leak of 100,000 calls would be tens
// of MiB, of 40 bytes a call 4.
func TestP04SilentPeerLeavesNothingBehind(t *testing.T) {
	calls, waves := 100_000, 3
	if invariants.Race {
		calls = 10_000
	}
	ours, theirs := newTape()
	clock := engine.NewManualClock()
	c, err := conn.New(ours, conn.Options{
		MaxPending: calls, Timeout: time.Millisecond, Clock: clock,
		Overflow: engine.OverflowWait, // for the writer, where it does not get to run for a while
	})
	require.NoError(t, err)
	defer c.Close()
	ids := make([]codec.ID, calls)
	lines, expired := theirs.lines(), 0
	goroutines := runtime.NumGoroutine()
	wave := func() (live uint64) {
		for i := range ids {
			ids[i], err = c.Start(background, "m", nil, conn.CallOptions{}, func(o conn.Outcome) { expired++ })
			require.NoError(t, err)
		}
		for n := 0; n < 1000 && c.Stats().Calls.Pending > 0; n++ {
			clock.Advance(time.Millisecond)
		}
		require.Zero(t, c.Stats().Calls.Pending)
		require.NoError(t, c.Flush(background))

		var buf []byte
		for _, id := range ids {
			buf = append(buf, resultFor([]byte(id.String()), "1")+"\n"...)
		}
		for i := range calls {
			buf = append(buf, resultFor(strconv.AppendInt(nil, int64(1)<<50+int64(i), 10), "1")+"\n"...)
		}
		_, err = theirs.Write(append(buf, `{"jsonrpc":"2.0","id":"end","method":"ping"}`+"\n"...))
		require.NoError(t, err)
		for line := ""; line != `{"jsonrpc":"2.0","id":"end","result":{}}`+"\n"; {
			line, err = lines.ReadString('\n')
			require.NoError(t, err)
		}
		require.LessOrEqual(t, runtime.NumGoroutine(), goroutines)
		return heapLive()
	}
	first := wave()
	for range waves - 1 {
		require.Less(t, wave(), first+3<<20)
	}
	s := c.Stats().Calls
	require.Equal(t, waves*calls, expired)
	require.EqualValues(t, waves*calls, s.Late)
	require.EqualValues(t, waves*calls, s.Unknown)
	require.Zero(t, s.Duplicate)
	require.EqualValues(t, waves*calls, s.Expired)
}

// heapLive is the bytes that are reachable.
func heapLive() uint64 {
	runtime.GC()
	runtime.GC() // what the first one freed of pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestP07StringEchoOfANumericID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, conn.Options{MatchText: true})
		done := call(background, c, "m", "", conn.CallOptions{})
		p.send(resultFor([]byte(`"`+string(p.read().ID)+`"`), "1"))
		require.Equal(t, reply{"1", nil}, <-done)

		strict, q := connect(t, conn.Options{})
		done = call(background, strict, "m", "", conn.CallOptions{Timeout: time.Second})
		q.send(resultFor([]byte(`"`+string(q.read().ID)+`"`), "1"))
		require.Equal(t, "notifications/cancelled", q.read().Method)
		require.ErrorIs(t, (<-done).err, conn.ErrTimeout)
		require.EqualValues(t, 1, strict.Stats().Calls.Unknown)
	})
}

func TestP15OnlyTheAnswerIsTheAnswer(t *testing.T) {
	notes := make(chan string, 1)
	seen := newStrays()
	c, p := connect(t, conn.Options{OnStray: seen.hook, Handler: conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) {
		notes <- r.Method()
	})})
	done := call(background, c, "m", "", conn.CallOptions{})
	m := p.read()
	p.send(`{"jsonrpc":"2.0","method":"note"}`, `{"jsonrpc":"2.0","id":99,"result":0}`, resultFor(m.ID, "1"))
	require.Equal(t, reply{"1", nil}, <-done)
	require.Equal(t, "note", <-notes)
	require.Equal(t, conn.StrayUnmatched, (<-seen.c).Reason)
	require.EqualValues(t, 1, c.Stats().Calls.Unknown)
}

func TestAnswersAreLateDuplicateOrUnknown(t *testing.T) {
	c, p := connect(t, conn.Options{})
	done := call(background, c, "m", "", conn.CallOptions{})
	m := p.read()
	p.send(resultFor(m.ID, "1"), resultFor(m.ID, "2"), errorFor(m.ID, `"x"`), fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":1}`, "foreign"))
	require.Equal(t, reply{"1", nil}, <-done)
	requireWorks(t, c, p)
	s := c.Stats().Calls
	require.EqualValues(t, 3, s.Late+s.Duplicate+s.Unknown)
	require.EqualValues(t, 1, s.Unknown)
}

// brittle is a stream whose writes fail once broken is set.
type brittle struct {
	net.Conn
	broken atomic.Bool
}

var errBroken = errors.New("broken")

func (b *brittle) Write(p []byte) (int, error) {
	if b.broken.Load() {
		return 0, errBroken
	}
	return b.Conn.Write(p)
}

// A write that fails is an end of the link as well as of the call: nothing is in
// use afterwards, and nobody waits.
func TestP02WriteFailureFreesEverySlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		stream := &brittle{Conn: ours}
		c, err := conn.New(stream, conn.Options{MaxPending: 4, Overflow: engine.OverflowWait})
		require.NoError(t, err)
		p := &peer{t: t, link: theirs, in: bufio.NewReader(theirs)}
		var waiting []<-chan reply
		for range 3 {
			waiting = append(waiting, call(background, c, "m", "", conn.CallOptions{Timeout: conn.NoTimeout}))
			p.read()
		}
		stream.broken.Store(true)
		for range 3 { // the first fills the table, the others wait for room in it
			waiting = append(waiting, call(background, c, "m", "", conn.CallOptions{Timeout: conn.NoTimeout}))
		}
		for i, done := range waiting {
			err := (<-done).err
			require.ErrorIs(t, err, conn.ErrClosed)
			if i < 3 {
				require.ErrorIs(t, err, errBroken)
				sent, known := conn.Sent(err)
				require.True(t, sent && known)
			}
		}
		<-c.Done()
		require.Zero(t, c.Stats().Calls.Pending)
		require.ErrorIs(t, c.Err(), errBroken)
		_ = theirs.Close()
	})
}
