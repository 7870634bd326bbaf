package echo

import (
	"io"
	"sync"
)

// pipeBytes is how much one direction of a Pipe holds before a write waits. It
// is the size of a usual socket buffer, so that bursts form as they do there.
const pipeBytes = 256 << 10

// Pipe returns the two ends of an in-memory stream that buffers each way like a
// socket. A Read takes what is there; a Write waits while the buffer is full.
// Close ends both directions: the other end reads what was already written and
// then io.EOF, and its writes return io.ErrClosedPipe. Each end is safe for
// concurrent use; writes are not torn apart by other writes. Each end is a
// conn.TryWriter as well.
func Pipe() (a, b io.ReadWriteCloser) {
	there, back := newStream(), newStream()
	return &pipeEnd{in: back, out: there}, &pipeEnd{in: there, out: back}
}

type pipeEnd struct{ in, out *stream }

func (e *pipeEnd) Read(p []byte) (int, error)  { return e.in.read(p) }
func (e *pipeEnd) Write(p []byte) (int, error) { return e.out.write(p) }

// TryWrite writes what there is room for; see conn.TryWriter.
func (e *pipeEnd) TryWrite(p []byte) (int, error) { return e.out.tryWrite(p) }

func (e *pipeEnd) Close() error {
	e.out.close(false)
	e.in.close(true)
	return nil
}

// stream is one direction: a ring of bytes under a lock.
type stream struct {
	writing  sync.Mutex // held over one whole Write; taken before mu
	mu       sync.Mutex // protects the fields below
	readable sync.Cond
	writable sync.Cond
	ring     []byte
	start, n int
	closed   bool // no more writes; what is buffered can still be read
	broken   bool // the reading end itself closed
}

func newStream() *stream {
	s := &stream{ring: make([]byte, pipeBytes)}
	s.readable.L, s.writable.L = &s.mu, &s.mu
	return s
}

func (s *stream) read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.n == 0 && !s.closed && !s.broken {
		s.readable.Wait()
	}
	if s.broken {
		return 0, io.ErrClosedPipe
	}
	if s.n == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.n)], s.ring[s.start:])
	if n < len(p) && n < s.n {
		n += copy(p[n:min(len(p), s.n)], s.ring)
	}
	s.n -= n
	if s.start += n; s.start >= len(s.ring) {
		s.start -= len(s.ring)
	}
	if s.n == 0 {
		s.start = 0
	}
	s.writable.Signal()
	return n, nil
}

func (s *stream) write(p []byte) (int, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for written := 0; ; s.writable.Wait() {
		n, err := s.putLocked(p[written:])
		written += n
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// tryWrite is write that does not wait.
func (s *stream) tryWrite(p []byte) (int, error) {
	if !s.writing.TryLock() {
		return 0, nil
	}
	defer s.writing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.putLocked(p)
}

// putLocked puts as much of p into the ring as there is room for.
func (s *stream) putLocked(p []byte) (put int, err error) {
	for {
		if s.closed || s.broken {
			return put, io.ErrClosedPipe
		}
		free := len(s.ring) - s.n
		if put == len(p) || free == 0 {
			return put, nil
		}
		end := s.start + s.n
		if end >= len(s.ring) {
			end -= len(s.ring)
		}
		n := copy(s.ring[end:min(end+free, len(s.ring))], p[put:])
		put, s.n = put+n, s.n+n
		s.readable.Signal()
	}
}

func (s *stream) close(byReader bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if byReader {
		s.broken = true
	} else {
		s.closed = true
	}
	s.readable.Broadcast()
	s.writable.Broadcast()
}
