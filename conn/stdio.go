package conn

import (
	"io"
	"os"
	"sync"
)

// Stdio is the connection of a server that was started as a child process: it
// reads standard input and writes standard output, and nothing else of the
// program may touch those two. Requests go to Options.Handler.
//
// When the peer closes standard input, or goes, the connection ends by itself:
// Done is closed once the answers still being made were written, after
// Options.CloseTimeout at the latest. A server serves until then and returns
// from main:
//
//	c, err := conn.Stdio(conn.Options{Handler: handler})
//	if err != nil { … }
//	<-c.Done()
//
// Close ends it from this side, at once for a Read that waits. The peer sees
// the end of standard output when the process ends.
func Stdio(o Options) (*Conn, error) {
	stream, err := newStdio(os.Stdin, os.Stdout)
	if err != nil {
		return nil, err
	}
	c, err := New(stream, o)
	if err != nil {
		_ = stream.Close()
		return nil, err
	}
	return c, nil
}

// StdioStream is the stream that [Stdio] reads and writes, for who brings a
// connection of another kind. Reads and writes that wait return when it is closed.
// A process has one standard input: call it once.
func StdioStream() (io.ReadWriteCloser, error) {
	stream, err := newStdio(os.Stdin, os.Stdout)
	if err != nil {
		return nil, err
	}
	return stream, nil
}

// stdio makes one stream of two files that may not support being closed while
// they block: a terminal, or a pipe whose blocking mode other processes share.
// So each direction has a goroutine that alone may be stuck; it goes with the
// call that it is stuck in, at the latest with the process.
type stdio struct {
	in, out *detached
	closed  chan struct{}
	once    sync.Once
}

func newStdio(in, out *os.File) (*stdio, error) {
	out, err := withoutSignal(out)
	if err != nil {
		return nil, err
	}
	s := &stdio{closed: make(chan struct{})}
	s.in = newDetached(in.Read, s.closed)
	s.out = newDetached(out.Write, s.closed)
	return s, nil
}

// Read reads standard input.
func (s *stdio) Read(p []byte) (int, error) {
	n, err := s.in.do(min(len(p), detachedChunk), nil)
	return copy(p, s.in.buf[:n]), err
}

// Write writes to standard output and returns when the system has taken the
// bytes.
func (s *stdio) Write(p []byte) (int, error) {
	done := 0
	for {
		chunk := p[done:min(len(p), done+detachedChunk)]
		n, err := s.out.do(len(chunk), chunk)
		done += n
		if err != nil || done == len(p) {
			return done, err
		}
	}
}

// Close makes waiting calls, and all later ones, return os.ErrClosed.
func (s *stdio) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// detachedChunk is the most that one call moves: what a pipe holds by default on
// Linux.
const detachedChunk = 64 << 10

// detached runs a call that may block for ever on a goroutine and a buffer of
// its own, so that whoever asked for it can leave. One caller at a time.
type detached struct {
	buf    []byte // the caller's, except between asked and answered
	ask    chan []byte
	answer chan detachedResult
	closed <-chan struct{}
}

type detachedResult struct {
	n   int
	err error
}

func newDetached(call func([]byte) (int, error), closed <-chan struct{}) *detached {
	d := &detached{
		buf:    make([]byte, detachedChunk),
		ask:    make(chan []byte),
		answer: make(chan detachedResult),
		closed: closed,
	}
	go d.loop(call)
	return d
}

func (d *detached) loop(call func([]byte) (int, error)) {
	for {
		select {
		case p := <-d.ask:
			n, err := call(p)
			select {
			case d.answer <- detachedResult{n, err}:
			case <-d.closed:
				return
			}
		case <-d.closed:
			return
		}
	}
}

// do runs the call on the first n bytes of the buffer, which data fills before.
func (d *detached) do(n int, data []byte) (int, error) {
	select {
	case <-d.closed: // the buffer may be another's for good
		return 0, os.ErrClosed
	default:
	}
	copy(d.buf, data)
	select {
	case d.ask <- d.buf[:n]:
	case <-d.closed:
		return 0, os.ErrClosed
	}
	select {
	case r := <-d.answer:
		return r.n, r.err
	case <-d.closed:
		return 0, os.ErrClosed
	}
}

var _ io.ReadWriteCloser = (*stdio)(nil)
