package link

import (
	"bytes"
	"io"
	"reflect"
	"sync"
)

// Messages is what sends and receives whole messages: a channel.Channel of jrpc2,
// an ObjectStream of sourcegraph in a coat.
type Messages interface {
	// Send sends one message, which is its own from then on.
	Send(message []byte) error
	// Recv gives the next message, good until it is called again; an empty one
	// stands for nothing.
	Recv() ([]byte, error)
	Close() error
}

// Carry makes a stream of lines of m, a message a line. One goroutine may read and
// one may write at a time.
func Carry(m Messages) io.ReadWriteCloser { return &carrier{messages: m} }

type carrier struct {
	messages Messages
	in       []byte // received and not read
	store    []byte // what in lies in
	out      []byte // the beginning of a line that is not whole yet

	sending sync.Mutex // held while a message is sent
	once    sync.Once
	closed  error
}

// Read gives what is left of the last message, or the next one.
func (c *carrier) Read(p []byte) (int, error) {
	for len(c.in) == 0 {
		m, err := c.messages.Recv()
		if err != nil {
			return 0, err
		}
		if len(bytes.TrimSpace(m)) == 0 {
			continue
		}
		c.store = append(c.store[:0], m...)
		for i, b := range c.store {
			if b == '\n' || b == '\r' { // white space, or no JSON
				c.store[i] = ' '
			}
		}
		c.store = append(c.store, '\n')
		c.in = c.store
	}
	n := copy(p, c.in)
	c.in = c.in[n:]
	return n, nil
}

// Write sends every line that p ends.
func (c *carrier) Write(p []byte) (int, error) {
	n := 0
	for {
		i := bytes.IndexByte(p[n:], '\n')
		if i < 0 {
			c.out = append(c.out, p[n:]...)
			return len(p), nil
		}
		line := append(c.out, p[n:n+i]...)
		c.out = nil
		if err := c.send(line); err != nil {
			return n, err
		}
		n += i + 1
	}
}

func (c *carrier) send(line []byte) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	return c.messages.Send(line)
}

// Close closes m once. It waits for no message that is being sent, but does not
// begin while one is, if it can: some channels do not bear that.
func (c *carrier) Close() error {
	c.once.Do(func() {
		if c.sending.TryLock() {
			defer c.sending.Unlock()
		}
		c.closed = c.messages.Close()
	})
	return c.closed
}

// Join makes one stream of r and wc: wc itself when both are the same, so that
// what can be done with a socket still can.
func Join(r io.Reader, wc io.WriteCloser) io.ReadWriteCloser {
	if both, ok := wc.(io.ReadWriteCloser); ok && reflect.TypeOf(wc).Comparable() && any(r) == any(wc) {
		return both
	}
	return joined{r, wc}
}

type joined struct {
	io.Reader
	io.WriteCloser
}

// Close closes both ends, so that a read that waits returns.
func (j joined) Close() error {
	err := j.WriteCloser.Close()
	if c, ok := j.Reader.(io.Closer); ok {
		_ = c.Close() // what the writer's end says counts
	}
	return err
}
