package engine

import (
	"sync/atomic"

	"github.com/correlator-go/correlator/codec"
)

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

// with puts chunks into c, which has room for them, from the first on, where there
// is none yet. Nobody may fill c meanwhile.
func (c column[E]) with(first int, chunks []*[chunkSize]E) column[E] {
	for k, values := range chunks {
		c[first+k].CompareAndSwap(nil, values)
	}
	return c
}

// fill makes the chunk of slot i, and those of its slab, in the column that pick
// names, and returns the value of slot i.
func fill[T, E any](t *table[T], i uint32, pick func(*directory[T]) column[E], single func() *[chunkSize]E) *E {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := pick(t.dir.Load())
	chunk := int(i >> chunkBits)
	if c[chunk].Load() == nil {
		if first, chunks := slabOf(chunk); chunks == 1 {
			c[chunk].Store(single())
		} else {
			c.with(first, chunked(make([]E, chunks*chunkSize)))
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
