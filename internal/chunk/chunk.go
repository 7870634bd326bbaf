package chunk

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/internal/invariants"
)

// Chunk is a buffer that frames lie in, counted by references. B is the buffer,
// its length is its capacity and never changes; the other fields are the pool's,
// but for Audit, which holders report to.
//
// A pooled chunk keeps its count of 1 for the next one who gets it, so that a
// chunk that was never shared costs no atomic write.
type Chunk struct {
	B          []byte
	refs       atomic.Int32
	generation uint32     // written by the last holder, so stable for every holder
	home       *sync.Pool // of the chunk's class, nil for a buffer of no class
	Audit      Audit      // per-frame accounts, empty without the tag invariants
	_          [64]byte   // no two counts on one cache line
}

const (
	// Smallest and Largest are the lengths of the shortest and the longest chunks
	// that are pooled, in bytes. Between them stand the powers of two.
	Smallest = 512
	Largest  = Smallest << (classes - 1) // 4 MiB

	classes  = 14
	unpooled = -1
)

var pools [classes]sync.Pool

var out atomic.Int64

// Out is how many chunks were got and not given back. They are counted under the
// tag invariants only; without it Out is 0.
func Out() int64 { return out.Load() }

// Class is the smallest class that holds n bytes, Smallest<<Class long; negative
// when none does.
func Class(n int) int {
	if n <= Smallest {
		return 0
	}
	if n > Largest {
		return unpooled
	}
	return bits.Len(uint(n-1)) - bits.Len(Smallest-1)
}

// Get returns a chunk of at least n bytes with one reference. The bytes hold
// whatever they held. No chunk is longer than limit if n is not. It is safe for
// concurrent use.
func Get(n, limit int) *Chunk {
	if invariants.Enabled {
		out.Add(1)
	}
	if n <= Smallest && Smallest <= limit { // the usual answer, without a look at classes
		if c, ok := pools[0].Get().(*Chunk); ok {
			return c
		}
	}
	return get(n, limit)
}

func get(n, limit int) *Chunk {
	class := Class(n)
	if class == unpooled || Smallest<<class > limit && n <= limit {
		return made(n, nil)
	}
	if c, ok := pools[class].Get().(*Chunk); ok {
		return c
	}
	return made(Smallest<<class, &pools[class])
}

func made(n int, home *sync.Pool) *Chunk {
	c := &Chunk{B: make([]byte, n), home: home}
	c.refs.Store(1)
	return c
}

// Generation is how often the chunk was given back, modulo 2^32. It stays the same
// for as long as a reference is held.
func (c *Chunk) Generation() uint32 { return c.generation }

// Sole reports whether the caller's reference is the only one. Only holders of a
// reference make more, so true stays true until the caller retains.
func (c *Chunk) Sole() bool { return c.refs.Load() == 1 }

// Retain adds a reference to a chunk of the given generation.
func (c *Chunk) Retain(generation uint32) {
	if c.generation != generation {
		panic("codec: Retain of a message whose bytes were given back")
	}
	c.refs.Add(1)
}

// Release drops a reference to a chunk of the given generation: most often the
// only one, which costs no atomic write.
func (c *Chunk) Release(generation uint32) {
	if invariants.Enabled || c.generation != generation || c.refs.Load() != 1 || c.home == nil {
		c.release(generation)
		return
	}
	c.generation++
	c.home.Put(c)
}

func (c *Chunk) release(generation uint32) {
	if c.generation != generation {
		panic("codec: message released twice")
	}
	if c.refs.Load() != 1 {
		switch refs := c.refs.Add(-1); {
		case refs > 0:
			return
		case refs < 0:
			panic("codec: message released twice")
		}
		c.refs.Store(1)
	}
	c.generation++
	c.Audit.close()
	invariants.Poison(c.B)
	if invariants.Enabled {
		out.Add(-1)
	}
	if c.home != nil {
		c.home.Put(c)
	}
}
