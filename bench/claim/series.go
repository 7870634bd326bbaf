package claim

import (
	"fmt"
	"math"
	"slices"
)

// Values are what one run of a contender measured, by metric.
type Values map[string]float64

// Contender is one of those that a series compares.
type Contender struct {
	// Name identifies it within the series.
	Name string
	// Run measures it once.
	Run func() (Values, error)
}

// Series holds what the rounds of a series measured.
type Series struct {
	rounds []map[string]Values // by contender
}

// run adds one round. Each round begins with another contender, and every other
// one goes backwards, so that none always follows the same neighbour.
func (s *Series) run(contenders []Contender) error {
	round, n := len(s.rounds), len(contenders)
	got := make(map[string]Values, n)
	for i := range contenders {
		turn := (i + round/2) % n
		if round%2 == 1 {
			turn = (2*n - 1 - i - round/2%n) % n
		}
		c := contenders[turn]
		v, err := c.Run()
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		got[c.Name] = v
	}
	s.rounds = append(s.rounds, got)
	return nil
}

// Median returns the median of a contender's metric over the rounds. It is not a
// number when nobody measured it.
func (s *Series) Median(metric, contender string) float64 {
	return s.median(func(round map[string]Values) (float64, bool) {
		v, ok := round[contender][metric]
		return v, ok
	})
}

// Ratio returns the median over the rounds of the metric of contender a divided
// by that of contender b. It is not a number when one of them is missing.
func (s *Series) Ratio(metric, a, b string) float64 {
	return s.RatioOf(a, metric, b, metric)
}

// RatioOf is Ratio for two metrics, of the same contender or of two.
func (s *Series) RatioOf(a, metricA, b, metricB string) float64 {
	return s.median(func(round map[string]Values) (float64, bool) {
		x, okX := round[a][metricA]
		y, okY := round[b][metricB]
		return x / y, okX && okY
	})
}

// Largest returns the largest value of a contender's metric, for what must hold
// in every round. It is not a number when nobody measured it.
func (s *Series) Largest(metric, contender string) float64 {
	largest := math.NaN()
	if s == nil {
		return largest
	}
	for _, round := range s.rounds {
		if v, ok := round[contender][metric]; ok && !(v <= largest) {
			largest = v
		}
	}
	return largest
}

// Compute returns the median over the rounds of f, which gets a round's values by
// contender.
func (s *Series) Compute(f func(round map[string]Values) float64) float64 {
	return s.median(func(round map[string]Values) (float64, bool) { return f(round), true })
}

func (s *Series) median(of func(map[string]Values) (float64, bool)) float64 {
	if s == nil {
		return math.NaN()
	}
	var values []float64
	for _, round := range s.rounds {
		if v, ok := of(round); ok {
			values = append(values, v)
		}
	}
	return median(values)
}

// median sorts values. The median of none is not a number.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 0 {
		return (values[middle-1] + values[middle]) / 2
	}
	return values[middle]
}
