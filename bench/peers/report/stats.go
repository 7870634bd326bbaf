package report

import (
	"math"
	"slices"
)

// values are a column's of all rounds.
func (e *Entry) values(column string) []float64 {
	var v []float64
	for _, round := range e.Rounds {
		if x, ok := round[column]; ok {
			v = append(v, x)
		}
	}
	return v
}

// Median is that of a column over the rounds; false when nobody measured it.
func (e *Entry) Median(column string) (float64, bool) {
	if e == nil || e.Failed != "" {
		return 0, false
	}
	return median(e.values(column))
}

func median(v []float64) (float64, bool) {
	if len(v) == 0 {
		return 0, false
	}
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2, true
}

// Ratio is how one contender compares with another.
type Ratio struct {
	// Median is that of the ratios within each round.
	Median float64
	// Low and High bound the 95 % confidence interval of the ratio.
	Low, High float64
}

// Ratio compares column of a and b round by round. False says that one of them
// has no figures.
func (r *Row) Ratio(column, a, b string) (Ratio, bool) {
	x, y := r.Entry(a), r.Entry(b)
	if x == nil || y == nil || x.Failed != "" || y.Failed != "" {
		return Ratio{}, false
	}
	var ratios []float64
	for i := range min(len(x.Rounds), len(y.Rounds)) {
		p, okP := x.Rounds[i][column]
		q, okQ := y.Rounds[i][column]
		if okP && okQ && q != 0 {
			ratios = append(ratios, p/q)
		}
	}
	return interval(ratios)
}

// interval returns the median of ratios, and the interval of their mean on a
// logarithmic scale, widened to hold the median.
func interval(ratios []float64) (Ratio, bool) {
	m, ok := median(ratios)
	if !ok {
		return Ratio{}, false
	}
	n := float64(len(ratios))
	if n < 2 || slices.Min(ratios) <= 0 {
		return Ratio{m, m, m}, true
	}
	mean, squares := 0.0, 0.0
	for _, r := range ratios {
		mean += math.Log(r) / n
	}
	for _, r := range ratios {
		squares += (math.Log(r) - mean) * (math.Log(r) - mean)
	}
	half := student(len(ratios)-1) * math.Sqrt(squares/(n-1)/n)
	return Ratio{m, min(m, math.Exp(mean-half)), max(m, math.Exp(mean+half))}, true
}

// student is the two-sided 95 % quantile of Student's t.
func student(freedom int) float64 {
	table := []float64{12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131}
	if freedom <= len(table) {
		return table[freedom-1]
	}
	return 1.96 + 2.5/float64(freedom) // within 1 % from 15 on
}

// Spread is half the 95 % interval of a column's mean, as a share of the median.
func (e *Entry) Spread(column string) float64 {
	v := e.values(column)
	m, ok := median(v)
	if !ok || m == 0 || len(v) < 2 {
		return 0
	}
	mean, squares := 0.0, 0.0
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		squares += (x - mean) * (x - mean)
	}
	return student(len(v)-1) * math.Sqrt(squares/float64(len(v)-1)/float64(len(v))) / m
}
