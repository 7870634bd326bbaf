//go:build unix

package conn

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
)

// sockets gives the two ends of a unix socket.
func sockets(t *testing.T) (ours, theirs net.Conn) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			accepted <- c
		}
		close(accepted)
	}()
	ours, err = net.Dial("unix", l.Addr().String())
	require.NoError(t, err)
	theirs = <-accepted
	require.NotNil(t, theirs)
	t.Cleanup(func() {
		_ = ours.Close()
		_ = theirs.Close()
	})
	return ours, theirs
}

// standingIn is a writer to a socket, asleep, for which others stand in.
func standingIn(t *testing.T) (*writer, net.Conn) {
	ours, theirs := sockets(t)
	l, quit, ended := newLine(), make(chan struct{}), make(chan error, 1)
	w := &writer{
		to: ours, now: TryWriterOf(ours), line: l, room: newRoom(1 << 20), cancels: &cancels{line: l, framer: codec.LineFramer{}}, quit: quit,
		dispatch: func(codec.ID) bool { return true },
	}
	require.NotNil(t, w.now)
	l.standIn = w.standIn
	go func() { ended <- w.run() }()
	t.Cleanup(func() {
		close(quit)
		_ = ours.Close()
		<-ended
	})
	for !l.sleeping.Load() {
		runtime.Gosched()
	}
	return w, theirs
}

func TestWhoPushesWritesWhileTheWriterSleeps(t *testing.T) {
	w, theirs := standingIn(t)
	in := bufio.NewReader(theirs)
	for i := range 100 {
		text := fmt.Sprintf("frame %d\n", i)
		queue(w.line, text, i%2 == 0)
		w.line.poke()
		require.EqualValues(t, i+1, w.counts.writes.Load(), "it is written when poke returns")
		require.True(t, w.line.sleeping.Load())
		got, err := in.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, text, got)
	}
	w.cancels.add(7, reasonTimeout)
	got, err := in.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, got, "notifications/cancelled")
}

// Frames of all sizes, from many senders, to a peer that does not read for a
// while: what one that stands in cannot write, the writer's goroutine does.
func TestStandInLeavesToTheWriterWhatWouldWait(t *testing.T) {
	w, theirs := standingIn(t)
	const senders, each = 4, 400
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				long := strings.Repeat("x", (i%5)*(i%7)*2000) // up to 48 KB: some are written from their own buffer
				queue(w.line, fmt.Sprintf("%d %d %s\n", s, i, long), i%3 != 0)
				if i%8 == 0 {
					w.line.poke()
				}
			}
			w.line.poke()
		})
	}
	wg.Wait() // nobody waited for the peer
	require.Less(t, w.counts.bytes.Load(), uint64(senders*each*4000), "the peer has not read, so not all can have left")
	in := bufio.NewReaderSize(theirs, 1<<20)
	var next [senders]int
	for range senders * each {
		text, err := in.ReadString('\n')
		require.NoError(t, err)
		var s, i int
		_, err = fmt.Sscanf(text, "%d %d ", &s, &i)
		require.NoError(t, err)
		require.Equal(t, next[s], i)
		require.Equal(t, (i%5)*(i%7)*2000, strings.Count(text, "x"))
		next[s]++
	}
	flush(w.line)
	require.EqualValues(t, senders*each, w.counts.frames.Load())
}

func TestStandInHandsAFailedWriteToTheWriter(t *testing.T) {
	ours, theirs := sockets(t)
	c, err := New(ours, Options{})
	require.NoError(t, err)
	require.NoError(t, theirs.Close())
	settled := make(chan Outcome, 1)
	for {
		_, err := c.Start(background, "lost", nil, CallOptions{}, func(o Outcome) { settled <- o })
		if err != nil {
			require.ErrorIs(t, err, ErrClosed)
			break
		}
		require.ErrorIs(t, (<-settled).Err, ErrClosed)
	}
	<-c.Done()
	require.Zero(t, c.Stats().Calls.Pending)
}

// Calls, cancels and the end of the connection at once: nobody writes twice, and
// nothing is lost.
func TestStandInAgainstTheEnd(t *testing.T) {
	for range 50 {
		ours, theirs := sockets(t)
		c, err := New(ours, Options{})
		require.NoError(t, err)
		read := make(chan struct{})
		go func() {
			defer close(read)
			_, _ = io.Copy(io.Discard, theirs)
		}()
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 200 {
					ended := make(chan struct{})
					id, err := c.Start(background, "m", nil, CallOptions{}, func(Outcome) { close(ended) })
					if err != nil {
						return
					}
					c.Cancel(id, nil)
					<-ended
				}
			})
		}
		wg.Go(func() { _ = c.Close() })
		wg.Wait()
		<-c.Done()
		require.Zero(t, c.Stats().Calls.Pending)
		_ = theirs.Close()
		<-read
	}
}
