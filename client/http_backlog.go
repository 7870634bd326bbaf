package client

import (
	"sync"

	"github.com/correlator-go/correlator/conn"
)

// backlog counts the requests of the server that an HTTP link has to do with, so
// that no server can make it hold more than it may.
type backlog struct {
	most      int   // requests that are served or wait
	mostBytes int64 // of their frames; one alone always passes

	mu       sync.Mutex // protects the fields below
	here     int
	bytes    int64
	refusals int // that are on their way: as many again
}

// entry says what becomes of a request.
type entry uint8

const (
	served  entry = iota // leave ends it
	full                 // it is refused; refused ends that
	flooded              // the server does not even take refusals: it is dropped
)

// limit sets the bounds, from where none have been used.
func (b *backlog) limit(slots int, o *conn.Options) {
	b.most = slots
	switch {
	case o.MaxQueued == 0:
		b.most += conn.DefaultMaxQueued
	case o.MaxQueued > 0:
		b.most += o.MaxQueued
	}
	switch b.mostBytes = int64(o.MaxQueuedBytes); {
	case b.mostBytes == 0:
		b.mostBytes = conn.DefaultMaxQueuedBytes
	case b.mostBytes < 0:
		b.mostBytes = 1<<31 - 1
	}
}

func (b *backlog) enter(size int64) entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.here < b.most && (b.here == 0 || b.bytes+size <= b.mostBytes):
		b.here++
		b.bytes += size
		return served
	case b.refusals < b.most:
		b.refusals++
		return full
	default:
		return flooded
	}
}

func (b *backlog) leave(size int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.here--
	b.bytes -= size
}

func (b *backlog) refused() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refusals--
}
