package load

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

const (
	// subBits is the resolution: a power of two of nanoseconds has 2^subBits
	// buckets, so a value is known to within 1.6 %.
	subBits = 6
	octaves = 42 // up to 2^42 ns, more than an hour
	buckets = octaves << subBits
	// shards keep callers on different cores off each other's lines.
	shards = 8
)

// Histogram counts durations in buckets of equal relative width. It is safe for
// concurrent use and never grows: one for all callers, because one for each
// would be a heap that pays for a collector's rival as GOGC would. (HdrHistogram
// for Go is not safe for concurrent use.)
type Histogram struct {
	counts [shards][buckets]atomic.Int64
}

// bucket returns the bucket of d.
func bucket(d time.Duration) int {
	v := uint64(max(d, 0))
	if v < 1<<subBits {
		return int(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return min((shift+1)<<subBits|int(v>>shift&(1<<subBits-1)), buckets-1)
}

// middle returns the value in the middle of a bucket, in nanoseconds.
func middle(bucket int) float64 {
	if bucket < 1<<subBits {
		return float64(bucket)
	}
	shift := bucket>>subBits - 1
	low := uint64(1<<subBits|bucket&(1<<subBits-1)) << shift
	return float64(low) + float64(uint64(1)<<shift)/2
}

// Record counts d. lane is any number that differs between goroutines.
func (h *Histogram) Record(lane int, d time.Duration) {
	h.counts[lane&(shards-1)][bucket(d)].Add(1)
}

// Counts are the counts of a histogram by bucket.
type Counts []int64

// Counts reads h. While others record, the counts are not of one instant.
func (h *Histogram) Counts() Counts {
	c := make(Counts, buckets)
	for s := range h.counts {
		for b := range h.counts[s] {
			c[b] += h.counts[s][b].Load()
		}
	}
	return c
}

// Total is the number of durations.
func (h *Histogram) Total() int64 {
	n := int64(0)
	for s := range h.counts {
		for b := range h.counts[s] {
			n += h.counts[s][b].Load()
		}
	}
	return n
}

// Sub returns what was counted between before and c.
func (c Counts) Sub(before Counts) Counts {
	d := make(Counts, len(c))
	for i := range c {
		d[i] = c[i] - before[i]
	}
	return d
}

// Total is the number of durations.
func (c Counts) Total() (n int64) {
	for _, k := range c {
		n += k
	}
	return n
}

// Quantile returns the duration below which a share q of all lies, in
// nanoseconds; it is not a number when nothing was counted.
func (c Counts) Quantile(q float64) float64 {
	rank := int64(math.Ceil(q * float64(c.Total())))
	if rank <= 0 {
		return math.NaN()
	}
	for b, k := range c {
		if rank -= k; rank <= 0 {
			return middle(b)
		}
	}
	return math.NaN()
}
