package wheel

import "github.com/correlator-go/correlator/internal/invariants"

// verifyMax bounds the walk that proves the invariants after every call; a wheel
// with more residents is proved by its smaller siblings in the tests.
const verifyMax = 512

// verify proves I1 to I4 and I7 by walking every bucket. Only builds with the tag
// "invariants" call it.
func (w *Wheel) verify() {
	if w.resident > verifyMax {
		return
	}
	seen := 0
	next, _ := w.Next()
	for b := range uint32(buckets) {
		first := w.heads[b]
		if b < takenBucket {
			bit := w.occupied[b>>levelBits]>>(b%levelSize)&1 != 0
			invariants.Check(bit == (first != 0), "I2 occupancy: bucket %d", b)
		}
		prev := headOf | b
		for link := first; link != 0; seen++ {
			e := w.entry(link - 1)
			invariants.Check(e.prev == prev, "I1 once: entry %d in bucket %d", link-1, b)
			w.verifyWindow(b, e.at)
			invariants.Check(!next.After(e.at) || next == w.now, "I7 next: %d, deadline %d", next, e.at)
			prev, link = link, e.next
		}
	}
	invariants.Check(seen == w.resident, "I4 count: %d resident, %d counted", seen, w.resident)
}

// verifyWindow proves I3 for one entry of bucket b.
func (w *Wheel) verifyWindow(b uint32, at Tick) {
	if b >= takenBucket || !at.After(w.now) {
		return
	}
	shift := b >> levelBits * levelBits
	turn := (b - uint32(w.now)>>shift) % levelSize // buckets ahead of now's
	if turn == 0 && shift > 0 {
		turn = levelSize
	}
	reached := Tick((uint32(w.now)>>shift + turn) << shift)
	invariants.Check(!reached.After(at), "I3 window: bucket %d reached at %d, deadline %d", b, reached, at)
}

// verifyDone proves I6, with I1 to I4 and I7. I5 holds by the one comparison that
// Advance makes before it hands an entry out.
func (w *Wheel) verifyDone() {
	if w.resident > verifyMax {
		return
	}
	w.verify()
	next, ok := w.Next()
	invariants.Check(!ok || next.After(w.now), "I6 complete: due at %d, now %d", next, w.now)
}
