package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

const (
	ninesLeast = 2 // the axis reaches at least 99 %
	ninesMost  = 7
	// ninesSteps is how many points a nine has.
	ninesSteps = 24
)

// nines is how far the percentiles of n calls mean something: 1,000 calls have
// three nines, after which there is only their slowest.
func nines(n int64) float64 {
	return min(max(math.Log10(float64(max(n, 1))), 0.5), ninesMost)
}

// percentile is what stands n nines along the axis: 50 for 0.301, 99 for 2.
func percentile(n float64) float64 { return 100 * (1 - math.Pow(10, -n)) }

// ninesChart is latency by percentile, both latencies of each run.
func ninesChart(runs []*run) chart {
	c := chart{
		ID: "percentiles", Title: "Latency by percentile", Size: "tall",
		Note: "Each step to the right is one more nine; both axes are logarithmic.",
	}
	far, seen := float64(ninesLeast), extent{}
	for _, r := range runs {
		for _, h := range []*hdr.Histogram{r.response, r.service} {
			if h != nil {
				far = max(far, math.Ceil(nines(h.TotalCount())))
				seen.add(float64(max(h.Min(), 1)))
				seen.add(float64(h.Max()))
			}
		}
	}
	if seen.none() {
		c.Empty = "No call was answered, so there is no latency to show."
		return c
	}
	y := logarithmic(seen.least, seen.most)
	c.Y = y.ticks
	c.X = append(c.X, tick{percentOf(math.Log10(2) / far * span), "50%"})
	for n := 1.0; n <= far; n++ {
		c.X = append(c.X, tick{percentOf(n / far * span), percentText(n)})
	}
	c.Grid = grid(c.X, c.Y)

	steps := int(far) * ninesSteps
	var xs, heads []string
	for i := range steps + 1 {
		n := float64(i) / ninesSteps
		xs, heads = append(xs, coordinate(n/far*span)), append(heads, percentText(n))
	}
	c.Xs, c.Heads = strings.Join(xs, " "), strings.Join(heads, separator)
	for _, r := range runs {
		for _, l := range []struct {
			name, class string
			h           *hdr.Histogram
		}{{"response", "whole", r.response}, {"service", "dashed", r.service}} {
			if l.h == nil {
				continue
			}
			t := trace{name: l.name, class: r.class + " " + l.class}
			if len(runs) > 1 {
				t.name = r.name + " " + l.name
			}
			most := nines(l.h.TotalCount())
			for i := range steps + 1 {
				n := float64(i) / ninesSteps
				if n > most+1.0/ninesSteps {
					t.gap()
					continue
				}
				v := float64(l.h.ValueAtPercentile(percentile(n)))
				t.to(n/far*span, y.down(v), 2, latency(v).String())
			}
			c.Lines = append(c.Lines, t.stroke())
			c.Summary += fmt.Sprintf("%s: half of the calls took at most %s, 99%% at most %s, the slowest %s. ",
				t.name, latency(float64(l.h.ValueAtPercentile(50))), latency(float64(l.h.ValueAtPercentile(99))), latency(float64(l.h.Max())))
		}
	}
	return c
}

// percentText prints the percentile n nines along the axis with as many digits
// as tell it from its neighbours.
func percentText(n float64) string {
	digits := max(int(n)-2, 0)
	if n != math.Trunc(n) {
		digits = max(int(n), 1)
	}
	return strconv.FormatFloat(percentile(n), 'f', digits, 64) + "%"
}
