package gosdk

import (
	"context"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
)

// writer gathers the frames of all who write and writes them together, on a
// goroutine that lives while there are some. So nobody holds a lock while the peer
// does not read, and a writer can leave when its ctx ends.
type writer struct {
	to             io.Writer
	limit          int // bytes that may wait to be written
	writes, frames atomic.Uint64

	mu      sync.Mutex // protects the fields below
	next    *flight    // what is gathered; nil: nothing
	spare   []byte     // a buffer to gather in
	running bool
	err     error // of a write, or of close: nothing is written any more
}

// flight is the frames that go out in one write.
type flight struct {
	buf    []byte
	frames uint64
	done   chan struct{}
	err    error // set before done is closed
}

// tryWriteBytes bounds what waits to be written when a refusal is added to it.
const tryWriteBytes = 64 << 10

func newWriter(to io.Writer, limit int) *writer { return &writer{to: to, limit: limit} }

// write returns when frame was written, or ctx has ended.
func (w *writer) write(ctx context.Context, frame []byte) error {
	w.mu.Lock()
	for w.err == nil && w.next != nil && len(w.next.buf)+len(frame) > w.limit {
		full := w.next
		w.mu.Unlock()
		select {
		case <-full.done: // its error is w.err
		case <-ctx.Done():
			return ctx.Err()
		}
		w.mu.Lock()
	}
	if w.err != nil {
		defer w.mu.Unlock()
		return w.err
	}
	f := w.addLocked(frame)
	w.mu.Unlock()
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
	}
	select {
	case <-f.done:
		return f.err
	default:
		return ctx.Err()
	}
}

// tryWrite queues message as a frame and does not wait; false says that too much
// waits already.
func (w *writer) tryWrite(message []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || w.next != nil && len(w.next.buf) > tryWriteBytes {
		return false
	}
	w.addLocked(append(message, '\n'))
	return true
}

func (w *writer) addLocked(frame []byte) *flight {
	if w.next == nil {
		w.next = &flight{buf: w.spare, done: make(chan struct{})}
		w.spare = nil
	}
	f := w.next
	f.buf = append(f.buf, frame...)
	f.frames++
	if !w.running {
		w.running = true
		go w.run()
	}
	return f
}

func (w *writer) run() {
	for {
		runtime.Gosched() // others that are about to write join
		f := w.take()
		if f == nil {
			return
		}
		w.writes.Add(1)
		w.frames.Add(f.frames)
		_, f.err = w.to.Write(f.buf)
		w.written(f)
	}
}

// take takes what is gathered. After a failed write that is nothing, and whoever
// waits is told.
func (w *writer) take() *flight {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.next
	w.next = nil
	if f != nil && w.err != nil {
		f.err = w.err
		close(f.done)
		f = nil
	}
	w.running = f != nil
	return f
}

// spareBytes is the longest buffer that is kept.
const spareBytes = 64 << 10

// written tells who waits for f.
func (w *writer) written(f *flight) {
	if f.err != nil {
		w.fail(f.err)
	}
	w.mu.Lock()
	if cap(f.buf) <= spareBytes {
		w.spare = f.buf[:0]
	}
	w.mu.Unlock()
	close(f.done)
}

func (w *writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

// close refuses what comes from now on.
func (w *writer) close() { w.fail(io.ErrClosedPipe) }
