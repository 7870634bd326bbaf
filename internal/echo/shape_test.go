package echo

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseDelay(t *testing.T) {
	for text, want := range map[string]Delay{
		"":                  {},
		"5ms":               {Constant, 5 * time.Millisecond, 0},
		"const:5ms":         {Constant, 5 * time.Millisecond, 0},
		"exp:2ms":           {Exponential, 2 * time.Millisecond, 0},
		"lognormal:5ms,0.5": {LogNormal, 5 * time.Millisecond, 0.5},
		"pareto:1ms,1.5":    {Pareto, time.Millisecond, 1.5},
	} {
		got, err := ParseDelay(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		again, err := ParseDelay(got.String())
		require.NoError(t, err, text)
		require.Equal(t, want, again, text)
	}
	for _, text := range []string{"x", "gauss:1ms", "const:1ms,2", "exp:-1ms", "pareto:1ms", "pareto:1ms,0", "lognormal:1ms,nan", "pareto:1ms,inf"} {
		_, err := ParseDelay(text)
		require.Error(t, err, text)
	}
}

func TestDelayLaws(t *testing.T) {
	const draws = 200_000
	for _, test := range []struct {
		delay Delay
		name  string
		of    func(sum time.Duration, above int) float64
		want  float64
	}{
		{Delay{Constant, time.Millisecond, 0}, "mean", mean(draws), 1e6},
		{Delay{Exponential, time.Millisecond, 0}, "mean", mean(draws), 1e6},
		{Delay{LogNormal, time.Millisecond, 0.5}, "share above the median", share(draws), 0.5},
		{Delay{Pareto, time.Millisecond, 1}, "share above the least value", share(draws), 1},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		var sum time.Duration
		above := 0
		for range draws {
			v := test.delay.draw(r)
			require.LessOrEqual(t, v, delayMax)
			sum += v
			if v > time.Millisecond {
				above++
			}
		}
		require.InEpsilon(t, test.want, test.of(sum, above), 0.02, "%v: %s", test.delay, test.name)
	}
}

func mean(n int) func(time.Duration, int) float64 {
	return func(sum time.Duration, _ int) float64 { return float64(sum) / float64(n) }
}

func share(n int) func(time.Duration, int) float64 {
	return func(_ time.Duration, above int) float64 { return float64(above) / float64(n) }
}

func TestShapeSharesAndSeed(t *testing.T) {
	shape := Shape{Blackhole: 0.1, Late: 0.2, LateBy: time.Second, Duplicate: 0.3, Delay: Delay{Exponential, time.Millisecond, 0}}
	type draw struct {
		fate  fate
		delay time.Duration
	}
	run := func(seed uint64) (out []draw, counts [4]int) {
		r := rand.New(rand.NewPCG(seed, 1))
		for range 100_000 {
			f, d := shape.draw(r)
			out = append(out, draw{f, d})
			counts[f]++
		}
		return out, counts
	}
	first, counts := run(7)
	again, _ := run(7)
	other, _ := run(8)
	require.Equal(t, first, again)
	require.NotEqual(t, first, other)
	require.InDelta(t, 10_000, counts[blackholed], 500)
	require.InDelta(t, 20_000, counts[late], 500)
	require.InDelta(t, 30_000, counts[duplicated], 500)
}

func TestShapeValidate(t *testing.T) {
	require.NoError(t, Shape{}.Validate())
	require.NoError(t, Shape{Blackhole: 0.5, Duplicate: 0.5}.Validate())
	for name, shape := range map[string]Shape{
		"share":     {Blackhole: 1.1},
		"negative":  {Duplicate: -0.1},
		"sum":       {Blackhole: 0.6, Duplicate: 0.6},
		"late-by":   {Late: 0.1},
		"die-after": {DieAfter: -1},
	} {
		require.Error(t, shape.Validate(), name)
	}
	require.Equal(t, "delay exp:1ms, blackhole 1%, late 0.5% by 2s, dup 10%, reorder 8, progress every 100ms, stall reading 1s at 5s, die after 9",
		Shape{Delay: Delay{Exponential, time.Millisecond, 0}, Blackhole: 0.01, Late: 0.005, LateBy: 2 * time.Second, Duplicate: 0.1, Reorder: 8,
			ProgressEvery: 100 * time.Millisecond, StallFor: time.Second, StallAfter: 5 * time.Second, DieAfter: 9}.String())
	require.Empty(t, Shape{}.String())
}
