package conn

import (
	"sync"

	"github.com/correlator-go/correlator/internal/invariants"
)

// A node is one enqueue: frames that stand back to back in buf, ready for the
// stream. Whoever fills it owns it until push; from then on the writer does,
// and puts it back into the pool once the bytes are copied or written.
//
// Params are copied into it, so a caller that gives up may reuse them at once,
// whether the writer has seen the node or not. Long ones of callers that wait are
// lent instead, see loan.
type node struct {
	next *node // older neighbour in the line; the writer turns it round
	buf  []byte
	// call is the pending call whose request the one frame is; noCall for a
	// frame that is written in any case.
	call int64
	// marks are the frames of a batch. Without them buf is one frame.
	marks []mark
	// charge is what the node holds of the write buffer's room.
	charge int
	// frames is how many frames buf holds that belong to no call.
	frames int
	// open says that frames may have joined since the node was pushed; see
	// openBatch.
	open bool
	// flushed is closed when all that was queued before the node was written, or
	// will never be.
	flushed chan struct{}
	// loan, if there is one, is the frame, not yet encoded; buf is empty then.
	loan *loan
}

// mark ends one frame of a batch: buf up to end, of this call.
type mark struct {
	call int64
	end  int
}

// SubmitPiece is the length, in bytes, from which on Submit queues what follows as
// another piece: frames of others may come between two pieces. A piece is written
// by one write call, and longer ones would make others wait for it.
const SubmitPiece = 128 << 10

const (
	noCall = -1
	// Buffers up to nodeSmall and up to nodeKeep have a pool each, so that a few
	// large frames do not make small ones hold large buffers. Larger ones are left
	// to the collector. Most frames are far below nodeSmall; nodeKeep holds a piece
	// of Submit, or an open batch, whose buffer append has doubled.
	nodeSmall = 8 << 10
	nodeKeep  = 2 * SubmitPiece
)

var (
	smallNodes = sync.Pool{New: func() any { return &node{call: noCall, buf: make([]byte, 0, 512)} }}
	largeNodes = sync.Pool{New: func() any { return &node{call: noCall} }}
)

// takeNode gives an empty node with room for size bytes.
func takeNode(size int) *node {
	pool := &smallNodes
	if size > nodeSmall {
		pool = &largeNodes
	}
	n := pool.Get().(*node)
	if cap(n.buf) < size {
		n.buf = make([]byte, 0, size)
	}
	return n
}

// putNode gives n back. The caller must hold the only reference.
func putNode(n *node) {
	pool := &smallNodes
	if cap(n.buf) > nodeSmall {
		pool = &largeNodes
		if cap(n.buf) > nodeKeep {
			return
		}
	}
	invariants.Poison(n.buf)
	*n = node{buf: n.buf[:0], marks: n.marks[:0], call: noCall}
	pool.Put(n)
}
