package report

import (
	"io"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// hdrTicks is how many lines a percentile file has for each halving of the
// distance to 100 %; it is what other tools print.
const hdrTicks = 5

// WritePercentiles writes h in HdrHistogram's text form, in milliseconds, as its
// plotter reads it.
func WritePercentiles(w io.Writer, h *hdr.Histogram) error {
	_, err := h.PercentilesPrint(w, hdrTicks, float64(time.Millisecond))
	return err
}
