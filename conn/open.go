package conn

import (
	"sync"
	"sync/atomic"
)

const (
	// openBytes is how long the open batch gets.
	openBytes = 128 << 10
	// openFrame is the largest frame that joins it: encoding one must be short.
	openFrame = 16 << 10
)

// openBatch is where callers that wait encode their frames, one behind the
// other, as long as they find it free: the writer then writes it as it stands.
// For a call that saves a node, its way through the pool, its place in the list
// and the copy into the writer's batch, about 250 ns of 2,200 at 1,024 callers.
// Nobody waits for it: who finds it taken, or full, takes a node.
type openBatch struct {
	mu     sync.Mutex // held while a frame is encoded; only the writer waits for it
	node   *node      // nil while nobody has joined
	joined atomic.Bool
}

// tryOpen gives the open batch to a caller with a frame of size bytes, who then
// calls join or leave; nil says that it is taken or full.
func (o *openBatch) tryOpen(size int) *node {
	if size > openFrame || !o.mu.TryLock() {
		return nil
	}
	if o.node == nil {
		o.node = takeNode(nodeSmall + 1)
	}
	if len(o.node.buf)+size > openBytes {
		o.mu.Unlock()
		return nil
	}
	return o.node
}

// join ends tryOpen: the frame of call, for which charge bytes of room are held,
// is there.
func (o *openBatch) join(call int64, charge int) {
	n := o.node
	n.marks = append(n.marks, mark{call, len(n.buf)})
	n.charge += charge
	if len(n.marks) == 1 {
		o.joined.Store(true)
	}
	o.mu.Unlock()
}

// leave ends tryOpen with nothing added.
func (o *openBatch) leave() { o.mu.Unlock() }

// takeOpen gives the writer what was joined; nil if nothing was.
func (o *openBatch) takeOpen() *node {
	if !o.joined.Load() {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.node
	o.node = nil
	o.joined.Store(false)
	return n
}
