package conn

import (
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
)

// cancels are the ids of calls whose end the peer must be told. They wait as
// ids, not as frames: at most one per call that was written and not answered,
// 16 bytes each, however long the peer does not read. Adding one never blocks
// and wakes no goroutine but the writer, which writes all of them in one go.
type cancels struct {
	profile codec.Profile
	line    *line
	waiting atomic.Int32 // the length of ended

	mu    sync.Mutex // protects ended
	ended []endedCall
	spare []endedCall // the writer's, swapped with ended
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
)

func (c *cancels) any() bool { return c.waiting.Load() > 0 }

// add queues the cancel of a call whose request was dispatched.
func (c *cancels) add(id int64, reason string) {
	c.mu.Lock()
	c.ended = append(c.ended, endedCall{id, reason})
	c.waiting.Add(1)
	c.mu.Unlock()
	c.line.poke()
}

// appendTo appends the frames of all that wait. Only the writer calls it.
func (c *cancels) appendTo(dst []byte, framer codec.Framer, counts *writerCounts) []byte {
	if !c.any() {
		return dst
	}
	c.mu.Lock()
	c.ended, c.spare = c.spare[:0], c.ended
	c.waiting.Store(0)
	c.mu.Unlock()
	var params [96]byte
	for _, call := range c.spare {
		start := len(dst)
		method := "notifications/cancelled"
		p := append(params[:0], `{"requestId":`...)
		if c.profile == codec.LSP {
			method = "$/cancelRequest"
			p = append(params[:0], `{"id":`...)
		}
		p = codec.IntID(call.id).Append(p)
		if c.profile == codec.MCP {
			p = append(p, `,"reason":"`...)
			p = append(p, call.reason...)
			p = append(p, '"')
		}
		p = append(p, '}')
		dst = framer.Open(dst)
		dst = codec.AppendNotification(dst, method, p)
		dst, _ = framer.Seal(dst, start) // fails for empty and oversize messages only
	}
	counts.cancels.Add(uint64(len(c.spare)))
	if cap(c.spare) > cancelsKeep {
		c.spare = nil
	}
	return dst
}

// cancelsKeep bounds the memory kept after a storm.
const cancelsKeep = 4096
