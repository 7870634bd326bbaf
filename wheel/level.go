package wheel

import "math/bits"

const (
	levels    = 5
	levelBits = 6
	levelSize = 1 << levelBits

	// span is how many ticks ahead the levels reach.
	span = 1 << (levels * levelBits)

	// takenBucket+l-1 is the list of entries that Advance took from a bucket of
	// level l, 1 to 4, and has not placed or handed out yet. It outlives a call that
	// ran out of room.
	takenBucket = levels * levelSize
	buckets     = takenBucket + levels - 1
)

// bucketFor returns the bucket for a deadline, as seen at now.
//
// The level comes from the distance, the bucket within it from the deadline's own
// bits. So level 0 holds deadlines 0 to 63 buckets ahead of now's, and a level
// above holds 1 to 64 ahead: the bucket of now itself means a full turn there,
// never now, and a bucket only ever holds one turn.
func bucketFor(now, at Tick) uint32 {
	ahead := at.Sub(now)
	switch {
	case ahead <= 0:
		return uint32(now) % levelSize
	case ahead >= span:
		at, ahead = now+span-1, span-1 // the edge
	}
	level := uint32(bits.Len32(uint32(ahead)|(levelSize-1))-1) / levelBits
	return level<<levelBits | uint32(at)>>(level*levelBits)%levelSize
}

// next returns how many ticks after now the wheel reaches the nearest occupied
// bucket, and reports false when there is none.
func (w *Wheel) next() (ticks uint32, ok bool) {
	ticks = ^uint32(0)
	for level := range uint32(levels) {
		if w.occupied[level] == 0 {
			continue
		}
		shift := level * levelBits
		from := uint32(w.now) >> shift
		if level > 0 {
			from++ // see bucketFor: now's own bucket is the last one
		}
		turned := bits.RotateLeft64(w.occupied[level], -int(from%levelSize))
		reached := (from + uint32(bits.TrailingZeros64(turned))) << shift
		ticks, ok = min(ticks, reached-uint32(w.now)), true
	}
	return ticks, ok
}

// reach moves the wheel ahead to now, where it reaches its nearest bucket, and
// takes the buckets of all levels above 0 that begin there: from now on they
// would count as a full turn ahead.
func (w *Wheel) reach(now Tick) {
	w.now = now
	for level := uint32(1); level < levels; level++ {
		shift := level * levelBits
		if uint32(now)&(1<<shift-1) != 0 {
			return
		}
		if b := uint32(now) >> shift % levelSize; w.occupied[level]>>b&1 != 0 {
			w.take(level, b)
		}
	}
}

// front returns the list that Advance works on at the present moment: what was
// taken, then the bucket of level 0. It may be empty.
func (w *Wheel) front() uint32 {
	for b := uint32(takenBucket); b < buckets; b++ {
		if w.heads[b] != 0 {
			return b
		}
	}
	return uint32(w.now) % levelSize
}
