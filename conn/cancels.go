package conn

import (
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
)

// cancels are the ids of calls whose end the peer must be told. They wait as
// ids, not as frames: at most one per call that was written and not answered,
// however long the peer does not read. Adding one never blocks and wakes no
// goroutine but the writer, which writes many of them in one go.
type cancels struct {
	profile codec.Profile
	framer  codec.Framer
	line    *line
	waiting atomic.Int32 // the length of ended

	mu    sync.Mutex // protects ended
	ended []endedCall

	// The writer's own: what it took and has not written, and all it took.
	left, taken []endedCall
	written     atomic.Uint64
}

type endedCall struct {
	id     int64
	reason string
}

// The reasons are fixed: an error's text may hold what is not the peer's
// business.
const (
	reasonTimeout   = "timeout"
	reasonCancelled = "cancelled"
	// cancelsKeep bounds the ids for which memory is kept after a storm: 96 KiB, in
	// each of two lists.
	cancelsKeep = 4096
)

// add queues the cancel of a call whose request was dispatched. It wakes the writer
// unless the cancel is held; see hold.
func (c *cancels) add(id int64, reason string) {
	c.mu.Lock()
	c.ended = append(c.ended, endedCall{id, reason})
	waiting := c.waiting.Add(1)
	c.mu.Unlock()
	if waiting < holdCancels && c.line.heldBy(driverCork) {
		return
	}
	c.line.poke()
}

// any reports whether there are cancels to write. Only the writer calls it, and
// appendTo.
func (c *cancels) any() bool { return len(c.left) > 0 || c.waiting.Load() > 0 }

// appendTo appends frames until there are no more or dst has size bytes.
func (c *cancels) appendTo(dst []byte, size int) []byte {
	for len(dst) < size && c.any() {
		if len(c.left) == 0 {
			c.take()
		}
		dst = c.appendOne(dst, c.left[0])
		c.left = c.left[1:]
		c.written.Add(1)
	}
	return dst
}

func (c *cancels) take() {
	if cap(c.taken) > cancelsKeep {
		c.taken = nil
	}
	c.mu.Lock()
	c.ended, c.taken = c.taken[:0], c.ended
	c.waiting.Store(0)
	c.mu.Unlock()
	c.left = c.taken
}

func (c *cancels) appendOne(dst []byte, call endedCall) []byte {
	var params [96]byte
	method := methodCancelled
	p := append(params[:0], `{"requestId":`...)
	if c.profile == codec.LSP {
		method = methodCancelLSP
		p = append(params[:0], `{"id":`...)
	}
	p = codec.IntID(call.id).Append(p)
	if c.profile == codec.MCP {
		p = append(p, `,"reason":"`...)
		p = append(p, call.reason...)
		p = append(p, '"')
	}
	p = append(p, '}')
	start := len(dst)
	dst = c.framer.Open(dst)
	dst = codec.AppendNotification(dst, method, p)
	dst, _ = c.framer.Seal(dst, start) // fails for empty and oversize messages only
	return dst
}
