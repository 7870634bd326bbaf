package conn

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
)

// recorder is a stream that keeps all that was written.
type recorder struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.Write(p)
}

func (r *recorder) holds(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Contains(r.buf.Bytes(), []byte(text))
}

func (r *recorder) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.buf.Reset()
}

// writing starts a writer of which every call is pending.
func writing(t *testing.T) (*line, *recorder) {
	l, r, quit, ended := newLine(), &recorder{}, make(chan struct{}), make(chan error, 1)
	w := &writer{
		to: r, line: l, room: newRoom(1 << 20), cancels: &cancels{line: l}, quit: quit,
		dispatch: func(codec.ID) bool { return true },
	}
	go func() { ended <- w.run() }()
	t.Cleanup(func() {
		close(quit)
		require.NoError(t, <-ended)
	})
	return l, r
}

// enter sends text as a waiting caller does.
func enter(l *line, text string) {
	n := l.tryOpen(len(text))
	if n == nil {
		n = takeNode(len(text))
		n.buf, n.call = append(n.buf, text...), 1
		l.pushWaiting(n)
		return
	}
	n.buf = append(n.buf, text...)
	l.join(1, 0)
	l.pokeWaiting()
}

func flush(l *line) {
	n := takeNode(0)
	n.flushed = make(chan struct{})
	done := n.flushed
	l.push(n)
	<-done
}

func TestFlushCoversTheOpenBatch(t *testing.T) {
	l, r := writing(t)
	stop := make(chan struct{})
	var noise sync.WaitGroup
	for range 2 {
		noise.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					for range 16 {
						enter(l, "x")
					}
					flush(l) // so that the queue stays short
				}
			}
		})
	}
	for i := range 2000 {
		text := fmt.Sprintf("<%d>", i)
		enter(l, text)
		flush(l)
		require.True(t, r.holds(text), text)
		r.reset()
	}
	close(stop)
	noise.Wait()
}

func TestFlushOfNothingReturns(t *testing.T) {
	l, _ := writing(t)
	for range 100 {
		flush(l)
	}
}

func TestOpenBatchTurnsAwayWhatDoesNotFit(t *testing.T) {
	var o openBatch
	require.Nil(t, o.tryOpen(openFrame+1))
	n := o.tryOpen(openFrame)
	require.NotNil(t, n)
	require.Nil(t, o.tryOpen(1), "it is taken")
	o.leave()
	require.Nil(t, o.takeOpen(), "nothing joined")
	for len(n.buf)+openFrame <= openBytes {
		n = o.tryOpen(openFrame)
		n.buf = append(n.buf, make([]byte, openFrame)...)
		o.join(7, 3)
	}
	require.Nil(t, o.tryOpen(openFrame), "it is full")
	taken := o.takeOpen()
	require.Len(t, taken.marks, openBytes/openFrame)
	require.Equal(t, 3*openBytes/openFrame, taken.charge)
	require.Nil(t, o.takeOpen())
	require.NotNil(t, o.tryOpen(1))
}
