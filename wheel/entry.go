package wheel

// entry is one timer. All three fields are zero until the entry is first
// scheduled, so a fresh chunk needs no preparation.
//
// Links name an entry by its number plus one; zero ends a list. In prev, zero
// means "not resident", and the first entry of a bucket holds headOf|bucket
// instead of a neighbour, so that unlinking it finds the bucket in O(1).
type entry struct {
	next uint32
	prev uint32
	at   Tick
}

const (
	headOf = 1 << 31

	chunkBits = 8
	chunkSize = 1 << chunkBits

	// EntriesMax is the most entries a wheel can hold; one bit of a link tells
	// buckets from entries, and zero is taken.
	EntriesMax = headOf - 1
)

// chunk is 3 KiB, a size class of the allocator, and holds no pointers.
type chunk [chunkSize]entry

// Grow makes the entries 0 to n-1 exist. It never takes any away, so a smaller n
// than before does nothing. It allocates 3 KiB per 256 new entries, and moves
// none that exist. It panics when n exceeds [EntriesMax].
func (w *Wheel) Grow(n int) {
	if n > EntriesMax {
		panic("wheel: Grow beyond EntriesMax")
	}
	for len(w.chunks)<<chunkBits < n {
		w.chunks = append(w.chunks, new(chunk))
	}
}

// entry returns entry i, which must exist.
func (w *Wheel) entry(i uint32) *entry {
	return &w.chunks[i>>chunkBits][i%chunkSize]
}

// push makes entry i the first of bucket b.
func (w *Wheel) push(b uint32, i uint32, e *entry) {
	first := w.heads[b]
	e.next, e.prev = first, headOf|b
	if first != 0 {
		w.entry(first - 1).prev = i + 1
	}
	w.heads[b] = i + 1
	if b < takenBucket {
		w.occupied[b>>levelBits] |= 1 << (b % levelSize)
	}
}

// unlink takes the resident e out of its bucket.
func (w *Wheel) unlink(e *entry) {
	if e.next != 0 {
		w.entry(e.next - 1).prev = e.prev
	}
	if e.prev&headOf == 0 {
		w.entry(e.prev - 1).next = e.next
	} else {
		b := e.prev &^ headOf
		w.heads[b] = e.next
		if e.next == 0 && b < takenBucket {
			w.occupied[b>>levelBits] &^= 1 << (b % levelSize)
		}
	}
	e.next, e.prev = 0, 0
}

// take moves the whole of bucket b of a level, which is occupied, to the level's
// taken list, which is empty.
func (w *Wheel) take(level, b uint32) {
	from, to := level<<levelBits|b, takenBucket+level-1
	first := w.heads[from]
	w.heads[from] = 0
	w.occupied[level] &^= 1 << b
	w.heads[to] = first
	w.entry(first - 1).prev = headOf | to
}
