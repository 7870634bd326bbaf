package conn

import "sync"

const (
	// openBytes is how long the open batch gets: what one write takes.
	openBytes = batchBytes
	// openFrame is the largest frame that joins it: others wait no longer than for
	// 16 KiB to be copied, about a microsecond.
	openFrame = 16 << 10
	// openLasts is for how many small batches a large one is still expected.
	openLasts = 16
)

// openBatch is the node in the line that frames may still join: whoever finds it
// free encodes in place, one frame behind the other, and the writer writes them
// as they stand. That saves a frame a node of its own, its way through the pool
// and over to the writer's processor, and a copy. Nobody waits for the open batch
// but the writer, for as long as a frame takes to encode: who finds it taken, or
// full, pushes a node.
//
// I9: what one goroutine sends keeps its order, whichever way each frame takes. A
// batch is in the line from its first frame on, so a node pushed after a frame
// that joined stands behind it. A frame joins a batch only if no node was pushed
// since, so one that is sent after a node stands behind that.
type openBatch struct {
	mu     sync.Mutex // held while a frame is encoded
	node   *node      // nil when the next frame opens a new one
	closed uint32     // line.closed when node was pushed
	// large is how many more batches begin with the room of a full one, instead of
	// growing there by copies of themselves: openLasts after one that did not fit
	// nodeSmall.
	large int
}

// tryOpen gives the open batch to who has a frame of size bytes, who then calls
// join or leave; nil says that it cannot be had.
func (l *line) tryOpen(size int) *node {
	o := &l.open
	if size > openFrame || !o.mu.TryLock() {
		return nil
	}
	if o.node != nil && (o.closed != l.closed.Load() || len(o.node.buf)+size > openBytes) {
		o.node = nil // it stays in the line, and nobody joins it any more
	}
	if o.node == nil {
		room := nodeSmall + 1
		if o.large > 0 {
			room = openBytes
		}
		o.node = takeNode(room)
		o.closed = l.closed.Load()
	}
	return o.node
}

// join ends tryOpen: a frame of call stands at the end of the batch. charge is
// the room that is held for it.
func (l *line) join(call int64, charge int, u urgency) {
	n := l.open.node
	first := len(n.marks) == 0
	n.marks = append(n.marks, mark{call, len(n.buf)})
	n.charge += charge
	if first {
		n.open = true
		l.add(n)
	}
	l.open.mu.Unlock()
	l.tell(u)
}

// leave ends tryOpen with nothing added.
func (l *line) leave() { l.open.mu.Unlock() }

// closeOpen lets nobody join n any more. The writer calls it before it looks into
// a batch.
func (l *line) closeOpen(n *node) {
	l.open.mu.Lock()
	defer l.open.mu.Unlock()
	if len(n.buf) > nodeSmall {
		l.open.large = openLasts
	} else if l.open.large > 0 {
		l.open.large--
	}
	if l.open.node == n {
		l.open.node = nil
	}
}
