package report

import (
	"slices"
	"strings"

	"github.com/correlator-go/correlator/internal/load/noise"
	"github.com/correlator-go/correlator/internal/load/slo"
)

// seconds is a run as a side whose repetitions are its measured intervals. It is not
// ok for what no interval tells, such as costs.
func seconds(d *Document, g slo.Goal) (side noise.Side, ok bool, err error) {
	var rows []Interval
	for _, row := range d.Intervals {
		// Calls of the warm-up are not measured. The last, short interval is that of
		// the calls that were waited for.
		if !row.Warm && row.Length > 0 && row.Start+row.Length/2 < d.Config.Warmup+d.Rates.Seconds {
			rows = append(rows, row)
		}
	}
	if len(rows) < 2 {
		return side, false, nil
	}
	if g.Unit == slo.Duration && g.Metric != "cpu" {
		return latencies(rows, g.Metric)
	}
	var of func(row *Interval) (n, of float64)
	switch g.Metric {
	case "rate":
		of = func(row *Interval) (float64, float64) { return float64(row.Ends.OK + row.Ends.Error), row.Length }
	case "offered":
		of = func(row *Interval) (float64, float64) { return float64(row.Sent), row.Length }
	case "error":
		of = func(row *Interval) (float64, float64) {
			return float64(row.Ends.Sum() - row.Ends.OK), float64(row.Ends.Sum())
		}
	default:
		return side, false, nil
	}
	return noise.Side{Repetitions: len(rows), Statistic: func(pick []int) float64 {
		var n, all float64
		for _, k := range pick {
			a, b := of(&rows[k])
			n, all = n+a, all+b
		}
		if all == 0 {
			return 0
		}
		return n / all
	}}, true, nil
}

// latencies is a side whose figure is that of all calls of the picked seconds.
func latencies(rows []Interval, metric string) (side noise.Side, ok bool, err error) {
	name, service := strings.CutPrefix(metric, "service.")
	// The values of all seconds, ascending, and for each second which of them it has
	// and how often: few of the thirty thousand that a histogram may have.
	type bar struct {
		value int
		count int64
	}
	var values []int64
	bars := make([][]bar, 0, len(rows))
	histograms := make([]map[int64]int64, 0, len(rows))
	for _, row := range rows {
		text := row.Response
		if service {
			text = row.Service
		}
		if text.Histogram == "" {
			return side, false, nil
		}
		h, err := text.Decode()
		if err != nil {
			return side, false, err
		}
		counts := map[int64]int64{}
		for _, b := range h.Distribution() {
			if b.Count > 0 {
				counts[b.To] += b.Count
				values = append(values, b.To)
			}
		}
		histograms = append(histograms, counts)
	}
	slices.Sort(values)
	values = slices.Compact(values)
	if len(values) == 0 {
		return side, false, nil
	}
	for _, counts := range histograms {
		var own []bar
		for value, count := range counts {
			i, _ := slices.BinarySearch(values, value)
			own = append(own, bar{i, count})
		}
		bars = append(bars, own)
	}
	sums := make([]int64, len(values))
	return noise.Side{Repetitions: len(rows), Statistic: func(pick []int) float64 {
		clear(sums)
		var total int64
		for _, k := range pick {
			for _, b := range bars[k] {
				sums[b.value] += b.count
				total += b.count
			}
		}
		return figure(name, values, sums, total)
	}}, true, nil
}

// figure is what metric is of values that came so often.
func figure(metric string, values, counts []int64, total int64) float64 {
	if total == 0 {
		return 0
	}
	var rank int64
	switch metric {
	case "min":
		rank = 1
	case "max":
		rank = total
	case "mean":
		var sum float64
		for i, n := range counts {
			sum += float64(values[i]) * float64(n)
		}
		return sum / float64(total)
	default:
		// As HdrHistogram has it: the smallest value that at least that share is at
		// or below.
		rank = max(int64(slo.Percentile(metric)/100*float64(total)+0.5), 1)
	}
	for i, n := range counts {
		if rank -= n; rank <= 0 {
			return float64(values[i])
		}
	}
	return float64(values[len(values)-1])
}
