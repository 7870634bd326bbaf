package mcpgo

import (
	"io"
	"sync"
)

// tailBytes is how much of a child's standard error waits to be read.
const tailBytes = 64 << 10

// tail keeps the end of what is written to it until it is read. Writing never
// waits.
type tail struct {
	mu   sync.Mutex // protects the fields below
	cond *sync.Cond
	buf  []byte
	over bool
}

func newTail() *tail {
	t := new(tail)
	t.cond = sync.NewCond(&t.mu)
	return t
}

// Write keeps the last tailBytes.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p[max(0, len(p)-tailBytes):]...)
	if extra := len(t.buf) - tailBytes; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	t.cond.Broadcast()
	return len(p), nil
}

// Read waits for something, or the end.
func (t *tail) Read(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.buf) == 0 {
		if t.over {
			return 0, io.EOF
		}
		t.cond.Wait()
	}
	n := copy(p, t.buf)
	t.buf = append(t.buf[:0], t.buf[n:]...)
	return n, nil
}

// close says that nothing more comes.
func (t *tail) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	t.cond.Broadcast()
}
