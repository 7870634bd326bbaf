package engine

import (
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
)

const (
	chunkBits = 8
	chunkSize = 1 << chunkBits

	// The first chunks are allocated one by one, so that a small engine stays
	// small; then in slabs. The runtime puts a header of 8 bytes before an object that
	// holds pointers and is smaller than 32 KiB, which would push every slot across
	// two cache lines; single chunks are padded for it, and slabs are larger. A slab
	// is taken whole, with those of its columns, by one call: while the collector
	// runs, each allocation may have to help it for a while, however small it is.
	singleChunks = 4
	slabChunks   = 8
)

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

// column holds one value per slot, in chunks made on first use.
type column[E any] []atomic.Pointer[[chunkSize]E]

// at returns the value of slot i, or nil when its chunk was never made.
func (c column[E]) at(i uint32) *E {
	chunk := i >> chunkBits
	if int(chunk) >= len(c) {
		return nil
	}
	values := c[chunk].Load()
	if values == nil {
		return nil
	}
	return &values[i%chunkSize]
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
	if len(next.slots) < singleChunks {
		next.slots = append(next.slots, newChunk[T]())
	} else {
		slab := make([]slot[T], slabChunks*chunkSize)
		for ; len(slab) > 0; slab = slab[chunkSize:] {
			next.slots = append(next.slots, (*[chunkSize]slot[T])(slab))
		}
	}
	// append may have left room: columns grow to it at once, and to the end of its
	// last slab, so that they are copied as seldom as the slots' own pointers.
	room := singleChunks + (cap(next.slots)-singleChunks+slabChunks-1)/slabChunks*slabChunks
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

// grown returns c with room for n chunks. Nobody may fill c meanwhile.
func (c column[E]) grown(n int) column[E] {
	if n <= len(c) {
		return c
	}
	next := make(column[E], n)
	for i := range c {
		next[i].Store(c[i].Load())
	}
	return next
}

// fill makes the chunk of slot i, and those of its slab, in the column that pick
// names, and returns the value of slot i.
func fill[T, E any](t *table[T], i uint32, pick func(*directory[T]) column[E], single func() *[chunkSize]E) *E {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := pick(t.dir.Load())
	chunk := i >> chunkBits
	if c[chunk].Load() == nil {
		if chunk < singleChunks {
			c[chunk].Store(single())
		} else {
			first := singleChunks + (chunk-singleChunks)/slabChunks*slabChunks
			slab := make([]E, slabChunks*chunkSize)
			for k := range uint32(slabChunks) {
				c[first+k].Store((*[chunkSize]E)(slab[k*chunkSize:]))
			}
		}
	}
	return &c[chunk].Load()[i%chunkSize]
}

func plainChunk[E any]() *[chunkSize]E { return new([chunkSize]E) }

// detailsChunk is padded so that no details cross a cache line.
func detailsChunk() *[chunkSize]details {
	padded := new(struct {
		_       [24]byte
		details [chunkSize]details
	})
	return &padded.details
}

func (t *table[T]) detailsOf(i uint32) *details {
	if d := t.dir.Load().details.at(i); d != nil {
		return d
	}
	return fill(t, i, func(d *directory[T]) column[details] { return d.details }, detailsChunk)
}

func (t *table[T]) endingOf(i uint32) **ending {
	if end := t.dir.Load().endings.at(i); end != nil {
		return end
	}
	return fill(t, i, func(d *directory[T]) column[*ending] { return d.endings }, plainChunk)
}

// setKey keeps the caller's id of the call in slot i.
func (t *table[T]) setKey(i uint32, id codec.ID) {
	number, text := id.Parts()
	place := t.dir.Load().texts.at(i)
	if text != "" && place == nil {
		place = fill(t, i, func(d *directory[T]) column[string] { return d.texts }, plainChunk)
	}
	if place != nil {
		*place = text
	}
	if text != "" {
		return
	}
	if place := t.dir.Load().numbers.at(i); place != nil {
		*place = number
	} else {
		*fill(t, i, func(d *directory[T]) column[int64] { return d.numbers }, plainChunk) = number
	}
}

// key returns what setKey kept.
func (t *table[T]) key(i uint32) codec.ID {
	d := t.dir.Load()
	if text := d.texts.at(i); text != nil && *text != "" {
		return codec.JoinID(0, *text)
	}
	return codec.JoinID(*d.numbers.at(i), "")
}

func (t *table[T]) dispatchOf(i uint32) *atomic.Int64 {
	if at := t.dir.Load().dispatch.at(i); at != nil {
		return at
	}
	return fill(t, i, func(d *directory[T]) column[atomic.Int64] { return d.dispatch }, plainChunk)
}

func (t *table[T]) farOf(i uint32) *atomic.Int64 {
	if at := t.dir.Load().far.at(i); at != nil {
		return at
	}
	return fill(t, i, func(d *directory[T]) column[atomic.Int64] { return d.far }, plainChunk)
}

func (t *table[T]) parkerOf(i uint32) *parker {
	if p := t.dir.Load().parkers.at(i); p != nil {
		return p
	}
	return fill(t, i, func(d *directory[T]) column[parker] { return d.parkers }, plainChunk)
}
