package codec

import (
	"bytes"
	"math"

	"github.com/correlator-go/correlator/internal/chunk"
)

// lease is a message value's claim on the chunk that its frame lies in.
type lease struct {
	generation uint32 // of the chunk, when the message was read or retained
	holds      uint32 // Retains of this value that no Release has answered
}

// owned marks, in place of a generation, a message without a chunk whose frame
// is the collector's.
const owned = 1<<32 - 1

// headroom is how many bytes stay free before the first frame of a chunk, so
// that it can grow in place by the digits of a longer id.
const headroom = 32

// smallFrame: below this fraction of its chunk a retained frame is copied out,
// so that 40 bytes never keep 64 KiB and small frames share no counter.
const smallFrame = 8

// Retain makes m last until [Message.Release], beyond the next call of the
// reader that filled it. Call it while m may still be read. A frame shorter than
// an eighth of the buffer it lies in is copied into one of its own, as is one
// that came from [Parse]; m.Frame() then points there. A longer frame stays where
// it is and shares the buffer, which lasts until all of its frames are released.
//
// Every Retain wants one Release, on m or on a copy of it. To give a second
// holder the message, copy the value and retain the copy. Not releasing is safe
// and costs only the reuse of the buffer. Retain on a detached message does
// nothing. It panics on a message whose bytes were already given back.
//
// Different copies of a message may be retained and released by different
// goroutines at once; one value may not.
func (m *Message) Retain() {
	c := m.chunk
	switch {
	case c == nil && m.lease.generation == owned:
	case c == nil:
		m.copyOut()
		return
	case m.lease.holds == 0 && len(m.frame) < len(c.B)/smallFrame:
		if c.Generation() != m.lease.generation {
			panic("codec: Retain of a message whose bytes were given back")
		}
		m.copyOut()
		return
	default:
		c.Retain(m.lease.generation)
		c.Audit.Lease(m.frame)
	}
	m.lease.holds++
}

// copyOut moves the view onto a copy in a chunk of its own, with one lease.
func (m *Message) copyOut() {
	if len(m.frame) == 0 {
		panic("codec: Retain of an empty message")
	}
	end := headroom + len(m.frame)
	c := chunk.Get(end, math.MaxInt)
	copy(c.B[headroom:], m.frame)
	m.frame = c.B[headroom:end]
	m.chunk = c
	m.lease = lease{c.Generation(), 1}
	c.Audit.Lease(m.frame)
}

// Release gives back what one [Message.Retain] took. With the last Release of
// the value its frame is gone and its accessors panic. A Release without a Retain
// panics, as does, wherever it can be seen, a second Release through a copy.
// Under the build tag invariants it is always seen, and the bytes of a frame that
// nobody may look at any more are overwritten.
func (m *Message) Release() {
	if m.lease.holds == 0 {
		panic("codec: Release of a message that is not retained")
	}
	m.lease.holds--
	c := m.chunk
	if c == nil {
		return
	}
	c.Audit.Unlease(m.frame)
	c.Release(m.lease.generation)
	if m.lease.holds == 0 {
		m.frame, m.chunk = nil, nil
	}
}

// Detach returns a copy of m that owns its bytes: exactly the frame, for as long
// as anybody keeps it, with nothing to release. m itself is left as it is.
func (m *Message) Detach() Message {
	return Message{Envelope: m.Envelope, frame: bytes.Clone(m.frame), lease: lease{generation: owned}}
}
