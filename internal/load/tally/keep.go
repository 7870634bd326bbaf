package tally

import hdr "github.com/HdrHistogram/hdrhistogram-go"

// Histograms are the whole distributions of one interval, in nanoseconds. They
// belong to whoever has the row. Both are nil unless they were kept.
type Histograms struct {
	Response, Service *hdr.PackedHistogram
}

// KeepHistograms makes every later Rotate leave the interval's histograms in the
// row. They are sparse: about five bytes for each bucket that is not empty, of
// which there are a thousand between a time and its double. Call it before the
// first Rotate, from the same goroutine.
func (t *Tally) KeepHistograms() { t.packed = newPacked() }

func newPacked() *hdr.PackedHistogram { return hdr.NewPacked(1, int64(latencyMax), digits) }

// pack copies h. Growing happens in the scratch, so a row holds no spare room
// and an interval leaves little garbage: what a run allocates is measured.
func (t *Tally) pack(h *hdr.Histogram) *hdr.PackedHistogram {
	t.packed.Reset()
	if h.TotalCount() > 0 {
		t.packed.MergeFrom(h) // drops nothing: both have the same buckets
	}
	return t.packed.Clone()
}
