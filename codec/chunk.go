package codec

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/correlator-go/correlator/internal/invariants"
)

// A chunk is a buffer that frames lie in, counted by references: one of the
// reader that fills it, one for each lease of a retained message. Who drops the
// last one puts the chunk back into the pool of its size. A chunk that nobody
// releases is the collector's, so forgetting a Release is slow but safe.
//
//	        get           retain / release           last release
//	pooled -----> refs 1 <----------------> refs n ---------------> pooled
//	                                                (generation+1)
//
// C1: the bytes of a chunk are written only by the reader beyond its last frame,
// or by SpliceInPlace while there is one reference.
// C2: a generation ends with the last release; a lease of an earlier generation
// never moves the count.
//
// A pooled chunk keeps its count of 1 for the next one who gets it, so that a
// chunk that was never shared costs no atomic write.
type chunk struct {
	b          []byte
	refs       atomic.Int32
	generation uint32   // written by the last holder, so stable for every holder
	class      int8     // of the pool; unpooled for a buffer beyond the largest class
	audit      audit    // per-frame accounts, empty without the tag invariants
	_          [64]byte // no two counts on one cache line
}

const (
	smallestChunk = 512
	chunkClasses  = 14
	largestChunk  = smallestChunk << (chunkClasses - 1) // 4 MiB
	unpooled      = -1

	// headroom is how many bytes stay free before the first frame of a chunk, so
	// that it can grow in place by the digits of a longer id.
	headroom = 32
)

var chunkPools [chunkClasses]sync.Pool

// chunksOut counts the chunks that were got and not given back, under the tag
// invariants only.
var chunksOut atomic.Int64

// chunkClass is the smallest class that holds n bytes, unpooled when none does.
func chunkClass(n int) int {
	if n <= smallestChunk {
		return 0
	}
	if n > largestChunk {
		return unpooled
	}
	return bits.Len(uint(n-1)) - bits.Len(smallestChunk-1)
}

// getChunk returns a chunk of at least n bytes with one reference. The bytes
// hold whatever they held. No chunk is longer than limit if n is not.
func getChunk(n, limit int) *chunk {
	if invariants.Enabled {
		chunksOut.Add(1)
	}
	class := chunkClass(n)
	if class == unpooled || smallestChunk<<class > limit && n <= limit {
		return newChunk(n, unpooled)
	}
	if c, _ := chunkPools[class].Get().(*chunk); c != nil {
		return c
	}
	return newChunk(smallestChunk<<class, class)
}

func newChunk(n, class int) *chunk {
	c := &chunk{b: make([]byte, n), class: int8(class)}
	c.refs.Store(1)
	return c
}

// sole reports whether the caller's reference is the only one. Only holders of a
// reference make more, so true stays true until the caller retains.
func (c *chunk) sole() bool { return c.refs.Load() == 1 }

// retain adds a reference to a chunk of the given generation.
func (c *chunk) retain(generation uint32) {
	if c.generation != generation {
		panic("codec: Retain of a message whose bytes were given back")
	}
	c.refs.Add(1)
}

// release drops a reference.
func (c *chunk) release(generation uint32) {
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
	c.audit.close()
	invariants.Poison(c.b)
	if invariants.Enabled {
		chunksOut.Add(-1)
	}
	if c.class != unpooled {
		chunkPools[c.class].Put(c)
	}
}
