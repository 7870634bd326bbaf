package progress_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/progress"
)

func TestCompare(t *testing.T) {
	// In rising order; equal ones share a line.
	rising := [][]progress.Number{
		{progress.Float(-math.MaxFloat64)},
		{progress.Float(-1 << 63), progress.Int(math.MinInt64)},
		{progress.Int(math.MinInt64 + 1)},
		{progress.Float(-1.5)},
		{progress.Int(-1), progress.Float(-1)},
		{progress.Float(-0.5)},
		{progress.Int(0), progress.Float(0), progress.Float(math.Copysign(0, -1))},
		{progress.Float(math.SmallestNonzeroFloat64)},
		{progress.Int(1), progress.Float(1)},
		{progress.Float(1.25)},
		{progress.Int(1 << 53), progress.Float(1 << 53)},
		{progress.Int(1<<53 + 1)},
		{progress.Float(1<<53 + 2), progress.Int(1<<53 + 2)},
		{progress.Int(math.MaxInt64)},
		{progress.Float(1 << 63)},
		{progress.Float(math.MaxFloat64)},
	}
	for i, row := range rising {
		for j, other := range rising {
			for _, a := range row {
				for _, b := range other {
					want := 0
					if i < j {
						want = -1
					} else if i > j {
						want = 1
					}
					require.Equalf(t, want, a.Compare(b), "%v and %v", a, b)
				}
			}
		}
	}
}

func TestNumberText(t *testing.T) {
	for _, c := range []struct {
		n    progress.Number
		want string
	}{
		{progress.Int(-7), "-7"}, {progress.Float(2), "2"}, {progress.Float(1e20), "100000000000000000000"},
		{progress.Float(1e21), "1e+21"}, {progress.Float(0.1), "0.1"}, {progress.Float(1e-7), "1e-07"},
		{progress.Float(math.Copysign(0, -1)), "0"}, {progress.Number{}, "none"}, {progress.Float(math.Inf(1)), "+Inf"},
	} {
		require.Equal(t, c.want, c.n.String())
	}
	require.Empty(t, progress.Float(math.NaN()).Append(nil))
	require.Empty(t, progress.Number{}.Append(nil))
	require.EqualValues(t, 3, progress.Int(3).Float64())
	require.Zero(t, progress.Number{}.Float64())
}

// What is written reads back as the same value, and comparing does not depend on
// which way round it is asked.
func FuzzNumber(f *testing.F) {
	f.Add(int64(0), 0.0)
	f.Add(int64(math.MaxInt64), float64(1<<63))
	f.Add(int64(1<<53+1), float64(1<<53))
	f.Add(int64(-3), -2.5)
	f.Fuzz(func(t *testing.T, n int64, x float64) {
		whole, real := progress.Int(n), progress.Float(x)
		if !real.Valid() {
			require.True(t, math.IsNaN(x) || math.IsInf(x, 0))
			return
		}
		require.Equal(t, whole.Compare(real), -real.Compare(whole))
		back, err := strconv.ParseFloat(string(real.Append(nil)), 64)
		require.NoError(t, err)
		require.Zero(t, real.Compare(progress.Float(back)))
	})
}
