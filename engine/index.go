package engine

import (
	"math/bits"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v3"

	"github.com/correlator-go/correlator/codec"
)

// index finds the calls of callers' ids. It only says which slot to ask: a call
// is settled by its slot's word, as with minted ids, and the winner takes the
// entry out before anyone learns of the outcome.
//
// Of xsync's map only Load is lock-free; a write locks a bucket, and growing stops
// the writers of the map. So there are several, each made when first used and
// sized for its part of the bound, and they never shrink. Functions given to
// Compute run under the bucket's lock: they look at a slot's word, and nothing else.
type index struct {
	seed    uint64
	sized   int // entries each shard is made for
	mu      sync.Mutex
	shards  []atomic.Pointer[shard]
	retired retired
}

type shard = xsync.MapOf[codec.ID, ref]

const (
	// presizeMax bounds how many entries a shard is made for before it has any; that
	// is 4 MiB.
	presizeMax = 1 << 17
	// xsync's tables have a power of two of buckets of 64 bytes, and are made to be
	// filled with 3.75 entries a bucket.
	entriesIn4Buckets = 15
)

// newIndex makes an index for maxPending entries. Where shards is 0, it takes about
// four per CPU: of the numbers from there to twice that, the one whose buckets are
// the fewest, for a shard of one entry too many has twice the buckets.
func newIndex(shards, maxPending int) *index {
	// Memory follows the traffic for a table of the default size; a caller who
	// names a bound gets room for it from the start.
	expected := maxPending
	if maxPending == DefaultMaxPending {
		expected /= 8
	}
	if shards == 0 {
		few := min(4*runtime.GOMAXPROCS(0), 32)
		shards = few
		for n := few; n <= 2*few; n++ {
			if n*bucketsFor(maxPending/n) < shards*bucketsFor(maxPending/shards) {
				shards = n
			}
		}
	}
	return &index{
		seed:   rand.Uint64(),
		sized:  min((expected+shards-1)/shards, presizeMax),
		shards: make([]atomic.Pointer[shard], shards),
	}
}

// bucketsFor is the size of a table that is filled with n entries; those of a shard
// vary a little.
func bucketsFor(n int) int {
	n += n / 64
	return 1 << bits.Len(uint(n*4/entriesIn4Buckets))
}

func hashID(id codec.ID, seed uint64) uint64 { return id.Hash(seed) }

// hash is what the other methods take beside an id. The maps hash once more for
// themselves.
func (x *index) hash(id codec.ID) uint64 { return id.Hash(x.seed) }

func (x *index) shard(hash uint64) *shard {
	place, _ := bits.Mul64(hash, uint64(len(x.shards)))
	if m := x.shards[place].Load(); m != nil {
		return m
	}
	return x.makeShard(place)
}

func (x *index) makeShard(place uint64) *shard {
	x.mu.Lock()
	defer x.mu.Unlock()
	m := x.shards[place].Load()
	if m == nil {
		m = xsync.NewMapOfWithHasher[codec.ID, ref](hashID, xsync.WithPresize(x.sized), xsync.WithGrowOnly())
		x.shards[place].Store(m)
	}
	return m
}

func (x *index) load(id codec.ID, hash uint64) (ref, bool) {
	return x.shard(hash).Load(id)
}

// store makes id name r, unless it names a call in flight, and returns what it
// names. One Compute costs less than LoadOrStore, which first looks without a lock.
func (x *index) store(id codec.ID, hash uint64, r ref, inFlight func(ref) bool) ref {
	now, _ := x.shard(hash).Compute(id, func(at ref, loaded bool) (ref, bool) {
		if loaded && inFlight(at) {
			return at, false
		}
		return r, false
	})
	return now
}

// remove takes the entry of a settled call out, unless id names another call by
// now, and remembers how the call ended.
func (x *index) remove(id codec.ID, hash uint64, r ref, wasAnswered bool) {
	x.retired.remember(hash, wasAnswered)
	x.shard(hash).Compute(id, func(at ref, loaded bool) (ref, bool) {
		return at, !loaded || at == r
	})
}

// each calls f for every entry.
func (x *index) each(f func(codec.ID, ref) bool) {
	for i := range x.shards {
		if m := x.shards[i].Load(); m != nil {
			m.Range(f)
		}
	}
}

// retired remembers the last calls of callers' ids, so that an answer for one is
// known as late or duplicate: a table of hashes, each new one taking the place of
// the one that fell there before. It is made with the first call that ends.
type retired struct {
	made  sync.Once
	cells atomic.Pointer[[retiredMax]atomic.Uint64]
}

// retiredMax is how many retired ids are remembered, at most; 8 KiB.
const retiredMax = 1024

const answeredMark = 1 // the lowest bit of a cell; the others are the hash's

func (m *retired) remember(hash uint64, wasAnswered bool) {
	cells := m.cells.Load()
	if cells == nil {
		m.made.Do(func() { m.cells.Store(new([retiredMax]atomic.Uint64)) })
		cells = m.cells.Load()
	}
	mark := hash &^ answeredMark
	if wasAnswered {
		mark |= answeredMark
	}
	cells[hash>>1%retiredMax].Store(mark)
}

// recall tells how the last call with this hash ended; unknown when that was
// forgotten.
func (m *retired) recall(hash uint64) counter {
	cells := m.cells.Load()
	if cells == nil {
		return countUnknown
	}
	switch mark := cells[hash>>1%retiredMax].Load(); {
	case mark&^answeredMark != hash&^answeredMark || mark == 0:
		return countUnknown
	case mark&answeredMark != 0:
		return countDuplicate
	}
	return countLate
}
