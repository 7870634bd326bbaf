package downstream

import (
	"net"
	"sync"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// bounded is a listener that keeps so many connections open at once and lets others
// wait. Zero is DefaultMaxConnections, negative no bound.
func bounded(l net.Listener, most int) net.Listener {
	if most == 0 {
		most = DefaultMaxConnections
	}
	if most < 0 {
		return l
	}
	return &boundedListener{Listener: l, places: make(chan struct{}, most), closed: make(chan struct{})}
}

type boundedListener struct {
	net.Listener
	places chan struct{}
	once   sync.Once
	closed chan struct{}
}

// Accept waits for a place, and then for a connection.
func (l *boundedListener) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	b := &boundedConn{Conn: c, listener: l}
	if lazy := conn.LazyReaderOf(c); lazy != nil {
		return &lazyBounded{b, lazy}, nil
	}
	return b, nil
}

func (l *boundedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type boundedConn struct {
	net.Conn
	listener *boundedListener
	once     sync.Once
}

// Close gives the place back.
func (c *boundedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { <-c.listener.places })
	return err
}

// lazyBounded is a boundedConn that can wait without a buffer.
type lazyBounded struct {
	*boundedConn
	lazy codec.LazyReader
}

// ReadLazily implements codec.LazyReader.
func (c *lazyBounded) ReadLazily(from codec.Lender) (int, error) { return c.lazy.ReadLazily(from) }
