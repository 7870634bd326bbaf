package tally

import (
	"sync"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

const (
	latencyMax = time.Hour
	digits     = 3
)

// NewHistogram returns an empty histogram of the kind used throughout, in
// nanoseconds.
func NewHistogram() *hdr.Histogram { return hdr.New(1, int64(latencyMax), digits) }

// Tally collects samples. Shards may record concurrently with everything;
// Rotate and Total are for one goroutine at a time.
type Tally struct {
	shards   []*Shard
	total    *cell                // everything rotated so far
	interval *cell                // scratch of Rotate
	at       time.Duration        // end of the last interval
	packed   *hdr.PackedHistogram // scratch of Rotate; nil unless rows keep their histograms
	gauges   Gauges               // at the last Rotate
	conns    []*part              // nil unless Split asked for it
	entries  []*part
}

// New returns a tally with n shards.
func New(n int) *Tally {
	t := &Tally{shards: make([]*Shard, n), total: newCell(), interval: newCell()}
	for i := range t.shards {
		t.shards[i] = &Shard{tally: t, now: newCell(), spare: newCell()}
	}
	return t
}

// Shard returns shard i modulo their number. A goroutine should keep to one.
func (t *Tally) Shard(i int) *Shard { return t.shards[i%len(t.shards)] }

// Shard is where samples are recorded. It is safe for concurrent use.
type Shard struct {
	tally *Tally
	mu    sync.Mutex // protects now and spare
	now   *cell
	spare *cell    // empty; changes places with now at each rotation
	_     [32]byte // keeps neighbours off this line
}

// Record counts samples in one go. It copies them.
func (s *Shard) Record(samples ...Sample) {
	s.mu.Lock()
	for i := range samples {
		s.now.record(&samples[i])
	}
	s.mu.Unlock()
	s.tally.recordParts(samples)
}

// take returns what was recorded since the last call; the caller gives it back
// empty before the next.
func (s *Shard) take() *cell {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.spare = s.spare, s.now
	return s.spare
}

// cell is the counts and histograms of one stretch of time.
type cell struct {
	response, service *hdr.Histogram
	measured, warm    [kinds]int64
}

func newCell() *cell { return &cell{response: NewHistogram(), service: NewHistogram()} }

func (c *cell) record(s *Sample) {
	if s.Warm {
		c.warm[s.Kind]++
		return
	}
	c.measured[s.Kind]++
	if s.Kind.timed() {
		// Clamped, so the only errors these return cannot happen.
		_ = c.response.RecordValue(clamp(s.Done - s.Planned))
		_ = c.service.RecordValue(clamp(s.Done - s.Sent))
	}
}

func clamp(d time.Duration) int64 { return int64(min(max(d, 0), latencyMax)) }

// merge adds from. Both histograms hold the same calls, and merging an empty one
// would read all of its thirty thousand counts.
func (c *cell) merge(from *cell) {
	if from.response.TotalCount() > 0 {
		c.response.Merge(from.response)
		c.service.Merge(from.service)
	}
	for k := range c.measured {
		c.measured[k] += from.measured[k]
		c.warm[k] += from.warm[k]
	}
}

func (c *cell) reset() {
	if c.response.TotalCount() > 0 {
		c.response.Reset()
		c.service.Reset()
	}
	c.measured, c.warm = [kinds]int64{}, [kinds]int64{}
}
