package engine

import "reflect"

// A table that grows is made larger ahead of need, by a goroutine that ends when
// there is enough. So a registration does not have to wait for a slab: to take one
// costs some ten microseconds, while the collector runs far more, for who allocates
// has to help it, and fresh memory stops its first user at every page. A registration
// that finds no slab ready makes one, or waits for the one that is being made.
//
// A table of two thousand slots is left alone, and so is one that is at its bound
// or has stopped growing: then nothing runs.

const (
	aheadFrom = singleChunks * chunkSize // slots, of a table that is still left alone

	// The reserve is as many slots again as were handed out, within these. The most
	// is 5 MB, what a million registrations a second use in 50 ms.
	reserveMin = slabChunks * chunkSize
	reserveMax = 6 * largeChunks * chunkSize
)

// reserve is how many slots a table should have beyond those that were handed out.
func reserve(used uint32) uint32 { return min(max(used, reserveMin), reserveMax) }

// runsLow reports whether a table of which so many slots were handed out should grow
// ahead: a quarter of the reserve is left, or half of the smallest. To begin costs
// the one who registers the waking of another thread, which where all cores have
// work displaces it, so it is done seldom.
func (f *freelist[T]) runsLow(used uint32) bool {
	slots := uint32(f.table.slots())
	return slots > aheadFrom && slots < used+max(reserve(used)/4, reserveMin/2) && slots < f.limit()
}

// growAhead makes the reserve. The caller has set table.ahead, which says that this
// goroutine is there.
func (f *freelist[T]) growAhead() {
	defer f.table.ahead.Store(false)
	for {
		used := f.fresh.Load()
		if !f.table.growOnce(min(used+reserve(used), f.limit()), used) {
			return
		}
	}
}

// like makes so many chunks for a column that has a value for slot i.
func (c column[E]) like(i uint32, chunks int) []*[chunkSize]E {
	if c.at(i) == nil {
		return nil
	}
	return chunked(touched(make([]E, chunks*chunkSize)))
}

// pageSize is that of most systems; where pages are larger, some work is done twice.
const pageSize = 4096

// touched writes to every page of values, which are zero and stay so: only then does
// the system find the memory.
func touched[E any](values []E) []E {
	step := max(pageSize/int(reflect.TypeFor[E]().Size()), 1)
	for i := 0; i < len(values); i += step {
		clear(values[i : i+1])
	}
	return values
}
