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
	// is taken whole, with those of its columns: while the collector runs, each
	// allocation may have to help it for a while, however small it is. Who waits for
	// that, see ahead.go.
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
	dir    atomic.Pointer[directory[T]]
	adding sync.Mutex  // held while adding chunks, from before their memory is taken; taken before mu
	mu     sync.Mutex  // held while replacing the directory or filling columns
	ahead  atomic.Bool // a goroutine is growing the table ahead of need
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

// grow makes memory for the slots below n, of which those below used were handed
// out. If some is being made ahead, it waits for that.
func (t *table[T]) grow(n, used uint32) {
	for t.growOnce(n, used) {
	}
}

// growOnce adds a chunk or a slab, and reports false when there was enough.
func (t *table[T]) growOnce(n, used uint32) bool {
	t.adding.Lock()
	defer t.adding.Unlock()
	dir := t.dir.Load()
	if len(dir.slots)<<chunkBits >= int(n) {
		return false
	}
	first, chunks := slabOf(len(dir.slots))
	if chunks == 1 {
		t.add(first, slab[T]{slots: []*[chunkSize]slot[T]{newChunk[T]()}})
		return true
	}
	last := max(used, 1) - 1
	t.add(first, slab[T]{
		slots:    chunked(touched(make([]slot[T], chunks*chunkSize))),
		details:  dir.details.like(last, chunks),
		numbers:  dir.numbers.like(last, chunks),
		texts:    dir.texts.like(last, chunks),
		dispatch: dir.dispatch.like(last, chunks),
	})
	return true
}

// slab is what is added to a table at once: chunks of slots, and of those columns
// that nearly every call uses if the last ones did. The others are filled on demand.
type slab[T any] struct {
	slots    []*[chunkSize]slot[T]
	details  []*[chunkSize]details
	numbers  []*[chunkSize]int64
	texts    []*[chunkSize]string
	dispatch []*[chunkSize]atomic.Int64
}

// add adds a slab whose first chunk is that. The caller holds t.adding.
func (t *table[T]) add(first int, s slab[T]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := *t.dir.Load()
	next.slots = append(next.slots, s.slots...)
	// append may have left room: columns grow to it at once, and to the end of its
	// last slab, so that they are copied as seldom as the slots' own pointers.
	last, chunks := slabOf(cap(next.slots) - 1)
	room := last + chunks
	next.details = next.details.grown(room).with(first, s.details)
	next.parkers = next.parkers.grown(room)
	next.endings = next.endings.grown(room)
	next.numbers = next.numbers.grown(room).with(first, s.numbers)
	next.texts = next.texts.grown(room).with(first, s.texts)
	next.dispatch = next.dispatch.grown(room).with(first, s.dispatch)
	next.far = next.far.grown(room)
	t.dir.Store(&next)
}

// chunked cuts a slab into its chunks.
func chunked[E any](all []E) (chunks []*[chunkSize]E) {
	for ; len(all) > 0; all = all[chunkSize:] {
		chunks = append(chunks, (*[chunkSize]E)(all))
	}
	return chunks
}

func newChunk[T any]() *[chunkSize]slot[T] {
	padded := new(struct {
		_     [56]byte
		slots [chunkSize]slot[T]
	})
	return &padded.slots
}
