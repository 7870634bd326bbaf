//go:build unix

package conn

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// nowait writes to a socket what it takes at once.
type nowait struct {
	raw     syscall.RawConn
	p       []byte
	n       int
	err     error
	attempt func(fd uintptr) bool // try, made once
}

// socketWriter gives nil for what is no socket. It goes by the type itself: what
// embeds a socket may have a Write of its own.
func socketWriter(stream any) TryWriter {
	var raw syscall.RawConn
	var err error
	switch s := stream.(type) {
	case *net.UnixConn:
		raw, err = s.SyscallConn()
	case *net.TCPConn:
		raw, err = s.SyscallConn()
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	w := &nowait{raw: raw}
	w.attempt = w.try
	return w
}

// TryWrite implements TryWriter.
func (w *nowait) TryWrite(p []byte) (n int, err error) {
	w.p, w.n, w.err = p, 0, nil
	if err := w.raw.Write(w.attempt); err != nil && w.err == nil {
		w.err = err
	}
	w.p = nil
	return w.n, w.err
}

// try writes as the system calls it back; it never asks to be called again.
func (w *nowait) try(fd uintptr) bool {
	for w.n < len(w.p) {
		n, err := syscall.Write(int(fd), w.p[w.n:])
		switch {
		case err == nil && n > 0:
			w.n += n
		case err == nil:
			w.err = io.ErrShortWrite
			return true
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			return true
		default:
			w.err = err
			return true
		}
	}
	return true
}
