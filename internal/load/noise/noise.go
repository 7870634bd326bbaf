package noise

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// Draws is how often each side is drawn again.
	Draws = 1000
	// Confidence is the share of the draws that an interval holds.
	Confidence = 0.95
	// Enough is how many repetitions a side needs for its intervals to be trusted.
	Enough = 5

	seed = 20261130
)

// Side is one side of a comparison.
type Side struct {
	// Repetitions is how many measurements there are, at least 1.
	Repetitions int
	// Statistic is the figure of the measurements numbered in pick, which may name
	// one several times. It must not keep the slice.
	Statistic func(pick []int) float64
}

// Medians is a side whose figure is the median of one number per repetition.
func Medians(values []float64) Side {
	scratch := make([]float64, len(values))
	return Side{len(values), func(pick []int) float64 {
		for i, k := range pick {
			scratch[i] = values[k]
		}
		slices.Sort(scratch)
		middle := len(scratch) / 2
		if len(scratch)%2 == 1 {
			return scratch[middle]
		}
		return (scratch[middle-1] + scratch[middle]) / 2
	}}
}

// Interval is a figure and the interval that it lies in with Confidence.
type Interval struct{ Value, Low, High float64 }

// Change is what came of the comparison of two sides.
type Change struct {
	A, B Interval
	// Ratio is that of B to A: 1.1 is 10 % more. It is 1 if both are 0, and +Inf if
	// only A is.
	Ratio Interval
}

// Noise reports whether the change may be nothing: whether the interval of the
// ratio holds 1.
func (c Change) Noise() bool { return c.Ratio.Low <= 1 && c.Ratio.High >= 1 }

// Compare draws both sides again and again.
func Compare(a, b Side) Change {
	r := rand.New(rand.NewPCG(seed, 0))
	drawsA, drawsB, ratios := make([]float64, Draws), make([]float64, Draws), make([]float64, Draws)
	pickA, pickB := make([]int, a.Repetitions), make([]int, b.Repetitions)
	for i := range Draws {
		drawsA[i], drawsB[i] = draw(r, a, pickA), draw(r, b, pickB)
		ratios[i] = ratio(drawsA[i], drawsB[i])
	}
	c := Change{A: Interval{Value: whole(a)}, B: Interval{Value: whole(b)}}
	c.Ratio.Value = ratio(c.A.Value, c.B.Value)
	c.A.Low, c.A.High = middle(drawsA)
	c.B.Low, c.B.High = middle(drawsB)
	c.Ratio.Low, c.Ratio.High = middle(ratios)
	return c
}

func draw(r *rand.Rand, s Side, pick []int) float64 {
	for i := range pick {
		pick[i] = r.IntN(s.Repetitions)
	}
	return s.Statistic(pick)
}

// whole is the statistic of every repetition, once.
func whole(s Side) float64 {
	pick := make([]int, s.Repetitions)
	for i := range pick {
		pick[i] = i
	}
	return s.Statistic(pick)
}

func ratio(a, b float64) float64 {
	switch {
	case a == b:
		return 1
	case a == 0:
		return math.Inf(1)
	}
	return b / a
}

// middle is the interval that holds the middle Confidence of draws, which it sorts.
func middle(draws []float64) (low, high float64) {
	slices.Sort(draws)
	out := int(math.Round(float64(len(draws)) * (1 - Confidence) / 2))
	return draws[out], draws[len(draws)-1-out]
}
