package prom

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/VictoriaMetrics/metrics"
)

var (
	// conventional is the boundaries that the conventions give for durations, in
	// seconds.
	conventional = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}
	// fine resolves what a peer on the same machine takes.
	fine = []float64{
		1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 0.001, 0.002, 0.005,
		0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60,
	}
)

// histogram sums up the histograms of intervals into buckets. The library's own
// takes values one by one, which at a million a second would cost what is measured.
type histogram struct {
	name   string
	labels []label
	bounds []float64 // upper ones, in seconds
	counts []uint64  // one for each bound, and one for what lies above
	sum    float64
}

func newHistogram(name string, labels []label, bounds []float64) *histogram {
	return &histogram{name: name, labels: labels, bounds: bounds, counts: make([]uint64, len(bounds)+1)}
}

// add takes in an interval, nil if it kept none. A bucket of h has a thousandth of
// its value; it counts where it begins.
func (h *histogram) add(kept *hdr.PackedHistogram) {
	if kept == nil {
		return
	}
	at := 0
	kept.ForEachBucket(func(ns, n int64) bool {
		v := float64(ns) / 1e9
		for at < len(h.bounds) && v > h.bounds[at] {
			at++ // values rise
		}
		h.counts[at] += uint64(n)
		h.sum += v * float64(n)
		return true
	})
}

func (h *histogram) write(w io.Writer) {
	metrics.WriteMetadataIfNeeded(w, h.name, "histogram")
	sum := uint64(0)
	for i, n := range h.counts {
		sum += n
		bound := math.Inf(1)
		if i < len(h.bounds) {
			bound = h.bounds[i]
		}
		fmt.Fprintf(w, "%s %d\n", series(h.name+"_bucket", append(h.labels[:len(h.labels):len(h.labels)], label{"le", boundText(bound)})), sum)
	}
	fmt.Fprintf(w, "%s %s\n%s %d\n", series(h.name+"_sum", h.labels), strconv.FormatFloat(h.sum, 'g', -1, 64), series(h.name+"_count", h.labels), sum)
}

func boundText(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

type label struct{ name, value string }

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// series is a name with its labels. Values may be anything: method names and
// targets come from the command line.
func series(name string, labels []label) string {
	var b strings.Builder
	b.WriteString(name)
	for i, l := range labels {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(l.name + `="` + escape.Replace(strings.ToValidUTF8(l.value, "\uFFFD")) + `"`)
	}
	if len(labels) > 0 {
		b.WriteByte('}')
	}
	return b.String()
}
