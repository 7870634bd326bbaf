package search_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/search"
)

// find searches a peer that holds up to most.
func find(t *testing.T, f *search.Finder, holds func(rate float64) bool) (probes int) {
	t.Helper()
	for rate, more := f.Next(); more; rate, more = f.Next() {
		require.Positive(t, rate)
		f.Record(holds(rate))
		probes++
		require.Less(t, probes, 80, "it comes to an end")
	}
	return probes
}

func TestFindsTheHighestRate(t *testing.T) {
	for _, most := range []float64{0.03, 1, 7.3, 999, 1000, 1001, 2000, 12_345, 1_234_567} {
		for _, start := range []float64{0, 1, 500_000} {
			f := search.New(start, 0, 0)
			probes := find(t, f, func(rate float64) bool { return rate <= most })
			rate, found := f.Answer()
			require.True(t, found, most)
			require.LessOrEqual(t, rate, most)
			require.Greater(t, rate*1.06, most)
			failed, some := f.Failed()
			require.True(t, some)
			require.Greater(t, failed, most)
			require.LessOrEqual(t, probes, 60)
		}
	}
}

func TestNothingHolds(t *testing.T) {
	f := search.New(1000, 3, 0)
	var rates []float64
	find(t, f, func(rate float64) bool { rates = append(rates, rate); return false })
	_, found := f.Answer()
	require.False(t, found)
	require.Equal(t, 3.0, rates[len(rates)-1], "the floor is tried before it gives up")
}

func TestEverythingHolds(t *testing.T) {
	f := search.New(1000, 0, 0)
	find(t, f, func(float64) bool { return true })
	rate, found := f.Answer()
	require.True(t, found)
	require.EqualValues(t, search.Max, rate)
	_, some := f.Failed()
	require.False(t, some)
}

// One probe in ten is disturbed: the answer stays about the same.
func TestOneDisturbedProbeDecidesNothing(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 0))
		last := false
		f := search.New(0, 0, 0)
		find(t, f, func(rate float64) bool {
			// Never twice in a row: that would be no disturbance.
			last = !last && r.Float64() < 0.1
			return rate <= 40_000 && !last
		})
		rate, found := f.Answer()
		require.True(t, found)
		require.InEpsilon(t, 40_000, rate, 0.06)
	}
}

// What held by luck is found out when it is probed again.
func TestLuckIsFoundOut(t *testing.T) {
	lucky := true
	f := search.New(1000, 0, 0)
	find(t, f, func(rate float64) bool {
		if rate == 8000 && lucky {
			lucky = false
			return true
		}
		return rate <= 5000
	})
	rate, found := f.Answer()
	require.True(t, found)
	require.LessOrEqual(t, rate, 5000.0)
	require.Greater(t, rate, 4500.0)
}

func TestRecordAfterTheEnd(t *testing.T) {
	f := search.New(1, 1, 0)
	find(t, f, func(float64) bool { return false })
	f.Record(true)
	_, found := f.Answer()
	require.False(t, found)
	require.False(t, f.Repeating() || f.Confirming())
}

func ExampleFinder() {
	f := search.New(1000, 0, 0.1)
	for rate, more := f.Next(); more; rate, more = f.Next() {
		fmt.Print(rate, " ")
		f.Record(rate <= 3000) // the probe
	}
	fmt.Println(f.Answer())
	// Output: 1000 2000 4000 4000 2830 3360 3360 3080 3080 2830 2830 true
}
