package engine

import (
	"sync"
	"sync/atomic"
)

const (
	chunkBits = 8
	chunkSize = 1 << chunkBits

	// The first chunks are allocated one by one, so that a small engine stays
	// small; then in slabs. The runtime puts a header of 8 bytes before an object that
	// holds pointers and is smaller than 32 KiB, which would push every slot across
	// two cache lines; single chunks are padded for it, and slabs are larger. A slab
	// is taken whole, with those of its columns, by one call: while the collector
	// runs, each allocation may have to help it for a while, however small it is. A
	// large table therefore grows by large slabs: fewer calls wait for one.
	singleChunks = 4
	slabChunks   = 8
	largeFrom    = singleChunks + 32*slabChunks // 66,560 slots
	largeChunks  = 32
)

// slabOf is the slab in which a chunk lies: its first chunk, and how many it has.
func slabOf(chunk int) (first, chunks int) {
	switch {
	case chunk < singleChunks:
		return chunk, 1
	case chunk < largeFrom:
		return chunk - (chunk-singleChunks)%slabChunks, slabChunks
	}
	return chunk - (chunk-largeFrom)%largeChunks, largeChunks
}

// A table is slots in chunks that never move, and columns of rarer facts beside
// them. The directory is replaced when chunks are added; readers load it and
// index. A reader may hold an old directory: it then lacks chunks that were added
// and columns that were filled since, so whoever looks for a column of a call
// loads the directory after it loaded the call's word.
type table[T any] struct {
	dir atomic.Pointer[directory[T]]
	mu  sync.Mutex // held while adding chunks or filling columns
}

type directory[T any] struct {
	slots    []*[chunkSize]slot[T]
	details  column[details]
	parkers  column[parker]
	endings  column[*ending]
	numbers  column[int64]        // callers' ids that are integers
	texts    column[string]       // and others, see codec.ID.Parts; "" for an integer
	dispatch column[atomic.Int64] // when a call was dispatched; only with an observer
	far      column[atomic.Int64] // total deadlines beyond nearTicks, in nanoseconds
}

// slot returns slot i, or nil when it was never allocated.
func (t *table[T]) slot(i uint32) *slot[T] {
	d := t.dir.Load()
	chunk := int(i >> chunkBits)
	if chunk >= len(d.slots) {
		return nil
	}
	return &d.slots[chunk][i%chunkSize]
}

// slots is the number of slots for which there is memory.
func (t *table[T]) slots() int { return len(t.dir.Load().slots) << chunkBits }

// grow makes memory for the slots below n.
func (t *table[T]) grow(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.slots() < n {
		t.addSlab()
	}
}

// addSlab adds one chunk or a slab of them. The caller holds t.mu.
func (t *table[T]) addSlab() {
	next := *t.dir.Load()
	if _, chunks := slabOf(len(next.slots)); chunks == 1 {
		next.slots = append(next.slots, newChunk[T]())
	} else {
		slab := make([]slot[T], chunks*chunkSize)
		for ; len(slab) > 0; slab = slab[chunkSize:] {
			next.slots = append(next.slots, (*[chunkSize]slot[T])(slab))
		}
	}
	// append may have left room: columns grow to it at once, and to the end of its
	// last slab, so that they are copied as seldom as the slots' own pointers.
	last, chunks := slabOf(cap(next.slots) - 1)
	room := last + chunks
	next.details = next.details.grown(room)
	next.parkers = next.parkers.grown(room)
	next.endings = next.endings.grown(room)
	next.numbers = next.numbers.grown(room)
	next.texts = next.texts.grown(room)
	next.dispatch = next.dispatch.grown(room)
	next.far = next.far.grown(room)
	t.dir.Store(&next)
}

func newChunk[T any]() *[chunkSize]slot[T] {
	padded := new(struct {
		_     [56]byte
		slots [chunkSize]slot[T]
	})
	return &padded.slots
}
