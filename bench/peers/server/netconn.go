package server

import (
	"io"
	"net"
	"time"
)

// NetConn makes a net.Conn of a stream, for libraries that want one. Deadlines of
// a stream that is none are accepted and mean nothing.
func NetConn(c io.ReadWriteCloser) net.Conn {
	if c, ok := c.(net.Conn); ok {
		return c
	}
	return stream{c}
}

type stream struct{ io.ReadWriteCloser }

type memory struct{}

// Network is "memory".
func (memory) Network() string { return "memory" }

// String is "memory".
func (memory) String() string { return "memory" }

// LocalAddr is no real address.
func (stream) LocalAddr() net.Addr { return memory{} }

// RemoteAddr is no real address.
func (stream) RemoteAddr() net.Addr { return memory{} }

// SetDeadline does nothing.
func (stream) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing.
func (stream) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing.
func (stream) SetWriteDeadline(time.Time) error { return nil }
