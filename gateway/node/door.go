package node

import (
	"net"
	"sync"
	"time"
)

// door is a listener that can be left while its connections go on: another door takes
// the socket over, with other options, and no client that comes in between is refused;
// or the socket is closed.
type door struct {
	inner net.Listener
	// lingers has Accept wait, when the door was left, until all connections that came in
	// by it are closed: a server over HTTP ends when it returns.
	lingers bool

	mu        sync.Mutex // guards the fields below
	changed   sync.Cond
	accepting bool
	left      bool
	closed    bool
	open      int // connections, where it lingers
}

func newDoor(inner net.Listener, lingers bool) *door {
	d := &door{inner: inner, lingers: lingers}
	d.changed.L = &d.mu
	return d
}

// Accept implements net.Listener. net.ErrClosed says that the door was left.
func (d *door) Accept() (net.Conn, error) {
	d.mu.Lock()
	if d.left {
		defer d.mu.Unlock()
		return nil, d.linger()
	}
	d.accepting = true
	d.mu.Unlock()
	c, err := d.inner.Accept()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.accepting = false
	d.changed.Broadcast()
	switch {
	case err != nil && d.left:
		return nil, d.linger()
	case err == nil && d.lingers:
		d.open++
		c = &counted{Conn: c, door: d}
	}
	return c, err
}

// linger waits for the connections, and says that there are no more. d.mu is held.
func (d *door) linger() error {
	for d.lingers && d.open > 0 && !d.closed {
		d.changed.Wait()
	}
	return net.ErrClosed
}

// long is a time at which every Accept is over.
var long = time.Unix(1, 0)

// leave ends Accept, and gives the socket, which is open and in nobody's hands then.
func (d *door) leave() net.Listener {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left = true
	d.changed.Broadcast()
	timed, ok := d.inner.(interface{ SetDeadline(t time.Time) error })
	for ok && d.accepting {
		if timed.SetDeadline(long) != nil {
			break // it is closed
		}
		d.changed.Wait()
	}
	if ok {
		_ = timed.SetDeadline(time.Time{})
	}
	return d.inner
}

func (d *door) wasLeft() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.left
}

// Close implements net.Listener. The socket of a door that was left is another one's.
func (d *door) Close() error {
	d.mu.Lock()
	left := d.left
	d.closed = true
	d.changed.Broadcast()
	d.mu.Unlock()
	if left {
		return nil
	}
	return d.inner.Close()
}

// Addr implements net.Listener.
func (d *door) Addr() net.Addr { return d.inner.Addr() }

// counted is a connection that came in by a door.
type counted struct {
	net.Conn
	door *door
	once sync.Once
}

// Close tells the door.
func (c *counted) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		c.door.mu.Lock()
		defer c.door.mu.Unlock()
		c.door.open--
		c.door.changed.Broadcast()
	})
	return err
}
