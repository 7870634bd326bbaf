package panel

import (
	"context"
	"sync"
)

// readersMost is how many may look on at a time.
const readersMost = 32

// crowd is those that look on. Each has room for one drawing; a newer one takes its
// place, so nobody ever waits for a reader.
type crowd struct {
	mu      sync.Mutex // protects the fields below
	readers map[*reader]struct{}
	closing bool
	empty   chan struct{} // closed when closing and nobody is left

	arrived chan struct{} // told of a reader that came, capacity 1
}

// reader is one that looks on.
type reader struct {
	next chan drawing // capacity 1
}

// drawing is a frame as it is sent.
type drawing struct {
	event []byte
	last  bool // nothing comes after it
}

// join adds a reader; nil if there are too many, or it is too late.
func (c *crowd) join() *reader {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing || len(c.readers) >= readersMost {
		return nil
	}
	if c.readers == nil {
		c.readers = map[*reader]struct{}{}
	}
	r := &reader{next: make(chan drawing, 1)}
	c.readers[r] = struct{}{}
	select {
	case c.arrived <- struct{}{}:
	default:
	}
	return r
}

func (c *crowd) leave(r *reader) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.readers, r)
	if c.closing && len(c.readers) == 0 {
		close(c.empty)
	}
}

// looks reports whether anybody does.
func (c *crowd) looks() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.readers) > 0
}

// show gives d to everybody, in the place of what they have not taken yet.
func (c *crowd) show(d drawing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for r := range c.readers {
		select {
		case <-r.next:
		default:
		}
		r.next <- d // room: only show, under the lock, fills it
	}
}

// close lets nobody in any more, and waits until all have left or ctx ends.
func (c *crowd) close(ctx context.Context) {
	c.mu.Lock()
	c.closing = true
	c.empty = make(chan struct{})
	if len(c.readers) == 0 {
		close(c.empty)
	}
	c.mu.Unlock()
	select {
	case <-c.empty:
	case <-ctx.Done():
	}
}
