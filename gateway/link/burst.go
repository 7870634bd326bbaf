package link

import "sync/atomic"

// Burst gathers what one reader's burst of messages leads to on other connections,
// so that each of those is written once. It belongs to the goroutine of that reader.
// The zero Burst is ready for use; a nil one holds nothing.
type Burst struct{ held []*Held }

// Held is the part of a connection that can be held: embed one.
//
// Nothing is held for good: whoever sends under a burst queues the frame first and
// then sets held; who flushes clears held first and then nudges. So a frame that
// finds held set is seen by the nudge that is still to come.
type Held struct {
	held  atomic.Bool
	nudge func()
}

// Init says what writes all that is queued. It is called once, before any use.
func (h *Held) Init(nudge func()) { h.nudge = nudge }

// Hold leaves what was queued on h to the flush of b. A nil b flushes at once.
func (b *Burst) Hold(h *Held) {
	if b == nil {
		h.nudge()
		return
	}
	if h.held.CompareAndSwap(false, true) {
		b.held = append(b.held, h)
	}
}

// Flush writes all that was held.
func (b *Burst) Flush() {
	if b == nil {
		return
	}
	for i, h := range b.held {
		h.held.Store(false)
		h.nudge()
		b.held[i] = nil
	}
	if b.held = b.held[:0]; cap(b.held) > burstKeep {
		b.held = nil
	}
}

// burstKeep bounds the memory that a burst keeps: 8 KiB.
const burstKeep = 1 << 10
