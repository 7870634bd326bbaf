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

// take gives what was written since.
func (r *recorder) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := r.buf.String()
	r.buf.Reset()
	return text
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

// queue sends text: by joining if it can and may, else as a node.
func queue(l *line, text string, join bool) {
	if join {
		if n := l.tryOpen(len(text)); n != nil {
			n.buf = append(n.buf, text...)
			l.join(1, 0, ofCall)
			return
		}
	}
	n := takeNode(len(text))
	n.buf, n.call = append(n.buf, text...), 1
	l.push(n, ofCall)
}

func flush(l *line) {
	n := takeNode(0)
	n.flushed = make(chan struct{})
	done := n.flushed
	l.push(n, atOnce)
	<-done
}

func TestOpenBatchKeepsTheOrderOfEachSender(t *testing.T) {
	const senders, each = 4, 3000
	l, r := writing(t)
	var text bytes.Buffer
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				queue(l, fmt.Sprintf("%d:%d\n", s, i), (i+s)%3 != 0)
				if i%64 == 0 {
					flush(l)
				}
			}
		})
	}
	wg.Wait()
	flush(l)
	text.WriteString(r.take())
	var next [senders]int
	for range senders * each {
		var s, i int
		_, err := fmt.Fscanf(&text, "%d:%d\n", &s, &i)
		require.NoError(t, err)
		require.Equal(t, next[s], i)
		next[s]++
	}
	require.Zero(t, text.Len())
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
						queue(l, "x", true)
					}
					flush(l) // so that the queue stays short
				}
			}
		})
	}
	for i := range 2000 {
		text := fmt.Sprintf("<%d>", i)
		queue(l, text, true)
		flush(l)
		require.Contains(t, r.take(), text)
	}
	close(stop)
	noise.Wait()
}

func TestOpenBatchTurnsAwayWhatDoesNotFit(t *testing.T) {
	l := newLine()
	require.Nil(t, l.tryOpen(openFrame+1))
	n := l.tryOpen(openFrame)
	require.NotNil(t, n)
	require.Nil(t, l.tryOpen(1), "it is taken")
	l.leave()
	require.True(t, l.empty(), "nothing joined")
	for len(n.buf)+openFrame <= openBytes {
		require.Same(t, n, l.tryOpen(openFrame))
		n.buf = append(n.buf, make([]byte, openFrame)...)
		l.join(7, 3, atOnce)
	}
	other := l.tryOpen(openFrame)
	require.NotSame(t, n, other, "the first is full")
	other.buf = append(other.buf, 'x')
	l.join(8, 0, atOnce)
	require.Same(t, other, l.tryOpen(1))
	l.leave()
	l.push(&node{}, atOnce)
	require.NotSame(t, other, l.tryOpen(1), "a node stands behind it")
	l.leave()

	taken := l.take()
	require.Same(t, n, taken)
	require.Len(t, taken.marks, openBytes/openFrame)
	require.Equal(t, 3*openBytes/openFrame, taken.charge)
	require.Same(t, other, taken.next)
}
