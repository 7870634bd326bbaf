//go:build unix

package conn

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/correlator-go/correlator/codec"
)

// lazySocket reads from a socket, and waits for it without a buffer.
type lazySocket struct {
	net.Conn
	raw     syscall.RawConn
	from    codec.Lender
	n       int
	err     error
	attempt func(fd uintptr) bool // try, made once
}

// socketReader gives nil for what is no socket, as socketWriter does.
func socketReader(stream io.Reader) codec.LazyReader {
	var s interface {
		net.Conn
		syscall.Conn
	}
	switch c := stream.(type) {
	case *net.UnixConn:
		s = c
	case *net.TCPConn:
		s = c
	default:
		return nil
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	r := &lazySocket{Conn: s, raw: raw}
	r.attempt = r.try
	return r
}

// ReadLazily implements codec.LazyReader.
func (r *lazySocket) ReadLazily(from codec.Lender) (int, error) {
	r.from, r.n, r.err = from, 0, nil
	err := r.raw.Read(r.attempt)
	r.from = nil
	if r.err != nil {
		err = r.err
	}
	return r.n, err
}

// try reads as the system calls it back: at once, and whenever there may be something.
func (r *lazySocket) try(fd uintptr) bool {
	p := r.from.Lend()
	for {
		n, err := syscall.Read(int(fd), p)
		switch {
		case err == nil && n > 0:
			r.n = n
		case err == nil:
			r.err = io.EOF
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			r.from.Return()
			return false
		default:
			r.err = &net.OpError{Op: "read", Net: r.LocalAddr().Network(), Source: r.LocalAddr(), Addr: r.RemoteAddr(), Err: os.NewSyscallError("read", err)}
		}
		return true
	}
}
