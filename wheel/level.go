package wheel

import "math/bits"

const (
	levels    = 5
	levelBits = 6
	levelSize = 1 << levelBits

	// span is how many ticks ahead the levels reach.
	span = 1 << (levels * levelBits)

	// takenBucket is the list of entries that Advance took from a bucket and has
	// not placed or handed out yet. It outlives a call that ran out of room.
	takenBucket = levels * levelSize
	buckets     = takenBucket + 1
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
	level := uint32(bits.Len32(uint32(ahead)|levelSize-1)-1) / levelBits
	return level<<levelBits | uint32(at)>>(level*levelBits)%levelSize
}

// reached returns how many ticks after now the wheel reaches the nearest occupied
// bucket of a level, and that bucket. The level must have one.
func (w *Wheel) reached(level uint32) (ticks, bucket uint32) {
	shift := level * levelBits
	from := uint32(w.now) >> shift
	if level > 0 {
		from++ // see bucketFor: a level above 0 begins with the bucket after now's
	}
	nearest := from + uint32(bits.TrailingZeros64(bits.RotateLeft64(w.occupied[level], -int(from%levelSize))))
	return nearest<<shift - uint32(w.now), level<<levelBits | nearest%levelSize
}

// nearest returns how many ticks after now the wheel has something to do, and the
// bucket to take then. Of buckets reached together the highest level comes first,
// so that what it holds for that very tick sinks before the tick is handed out.
// It reports false when all buckets are empty.
func (w *Wheel) nearest() (ticks, bucket uint32, ok bool) {
	for level := uint32(levels); level > 0; level-- {
		if w.occupied[level-1] == 0 {
			continue
		}
		if t, b := w.reached(level - 1); !ok || t < ticks {
			ticks, bucket, ok = t, b, true
		}
	}
	return ticks, bucket, ok
}
