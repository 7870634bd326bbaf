package conn

import (
	"io"
	"sync"
)

// stderrTail keeps the end of what is written to it, in a ring of fixed size.
// It is safe for concurrent use.
type stderrTail struct {
	mu   sync.Mutex // protects the fields below
	ring []byte     // its length is the limit
	next int        // where the next byte goes
	full bool       // the ring has wrapped: its oldest byte is at next
}

func newStderrTail(limit int) *stderrTail {
	return &stderrTail{ring: make([]byte, limit)}
}

func (t *stderrTail) add(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	limit := len(t.ring)
	if len(p) >= limit {
		copy(t.ring, p[len(p)-limit:])
		t.next, t.full = 0, true
		return
	}
	n := copy(t.ring[t.next:], p)
	t.next += n
	if t.next == limit {
		t.next, t.full = copy(t.ring, p[n:]), true
	}
}

// bytes copies the tail out, oldest byte first.
func (t *stderrTail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.full {
		return append([]byte(nil), t.ring[:t.next]...)
	}
	return append(append([]byte(nil), t.ring[t.next:]...), t.ring[:t.next]...)
}

// drain reads r to its end, whatever becomes of the copy: a child whose
// standard error is not read stalls once the pipe is full.
func (t *stderrTail) drain(r io.Reader, to io.Writer) {
	buf := make([]byte, 4<<10)
	for {
		n, err := r.Read(buf)
		t.add(buf[:n])
		if to != nil && n > 0 && !writeTo(to, buf[:n]) {
			to = nil
		}
		if err != nil {
			return
		}
	}
}

// writeTo reports whether w can be written to again: it took everything and
// did not panic.
func writeTo(w io.Writer, p []byte) (ok bool) {
	defer func() { _ = recover() }()
	_, err := w.Write(p)
	return err == nil
}
