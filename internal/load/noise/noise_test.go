package noise_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/noise"
)

// measured is n measurements around mean, with a spread of 5 %.
func measured(r *rand.Rand, n int, mean float64) noise.Side {
	values := make([]float64, n)
	for i := range values {
		values[i] = mean * math.Exp(0.05*r.NormFloat64())
	}
	return noise.Medians(values)
}

// Of comparisons of a thing with itself about one in twenty is called a change;
// a change of a fifth is always seen.
func TestTellsChangeFromNoise(t *testing.T) {
	const rounds = 300
	r := rand.New(rand.NewPCG(1, 2))
	called, seen, inside := 0, 0, 0
	for range rounds {
		if !noise.Compare(measured(r, 9, 100), measured(r, 9, 100)).Noise() {
			called++
		}
		c := noise.Compare(measured(r, 9, 100), measured(r, 9, 120))
		if !c.Noise() {
			seen++
		}
		if c.Ratio.Low <= 1.2 && c.Ratio.High >= 1.2 {
			inside++
		}
	}
	require.Less(t, called, rounds/10)
	require.Equal(t, rounds, seen)
	require.Greater(t, inside, rounds*85/100)
}

func TestSameNumbersSameIntervals(t *testing.T) {
	a, b := noise.Medians([]float64{1, 2, 3, 4, 5}), noise.Medians([]float64{2, 3, 4, 5, 6})
	require.Equal(t, noise.Compare(a, b), noise.Compare(a, b))
}

func TestMedians(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{{[]float64{7}, 7}, {[]float64{3, 1}, 2}, {[]float64{5, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		c := noise.Compare(noise.Medians(test.values), noise.Medians([]float64{test.want}))
		require.Equal(t, test.want, c.A.Value)
		require.True(t, c.Noise())
		require.LessOrEqual(t, c.A.Low, test.want)
		require.GreaterOrEqual(t, c.A.High, test.want)
	}
}

func TestZeroes(t *testing.T) {
	zero, one := noise.Medians([]float64{0, 0, 0, 0, 0}), noise.Medians([]float64{1, 1, 1, 1, 1})
	require.True(t, noise.Compare(zero, zero).Noise())
	require.Equal(t, 1.0, noise.Compare(zero, zero).Ratio.Value)
	require.True(t, math.IsInf(noise.Compare(zero, one).Ratio.Value, 1))
	require.False(t, noise.Compare(zero, one).Noise())
	require.Zero(t, noise.Compare(one, zero).Ratio.Value)
	require.False(t, noise.Compare(one, zero).Noise())
}

func ExampleCompare() {
	before := noise.Medians([]float64{10.1, 9.9, 10.0, 10.2, 9.8})
	after := noise.Medians([]float64{12.1, 11.9, 12.0, 12.2, 11.8})
	c := noise.Compare(before, after)
	fmt.Printf("%.2f %v\n", c.Ratio.Value, c.Noise())
	// Output: 1.20 false
}
