package plan_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/plan"
)

func TestParseStages(t *testing.T) {
	got, err := plan.ParseStages("10s:1000, 30s:1k..8k/s,500ms:0,1m:60/m..3600/h")
	require.NoError(t, err)
	require.Equal(t, []plan.Stage{
		{For: 10 * time.Second, From: 1000, To: 1000},
		{For: 30 * time.Second, From: 1000, To: 8000},
		{For: 500 * time.Millisecond},
		{For: time.Minute, From: 1, To: 1},
	}, got)
	for _, text := range []string{"", "10s", "x:5", "0s:5", "-1s:5", "1s:x", "1s:1..", "1s:-4", "1s:5/d", "1s:2e9", "1s:nan", "1s:5,"} {
		_, err := plan.ParseStages(text)
		require.Error(t, err, text)
	}
}

func times(s *plan.Schedule) (out []time.Duration) {
	for at, ok := s.Next(); ok; at, ok = s.Next() {
		out = append(out, at)
	}
	return out
}

func TestConstantScheduleDoesNotDrift(t *testing.T) {
	s := plan.NewSchedule([]plan.Stage{{For: 1000 * time.Second, From: 3000, To: 3000}})
	require.EqualValues(t, 3_000_000, s.Requests())
	at := times(s)
	require.Len(t, at, 3_000_000)
	for _, k := range []int{0, 1, 3000, 2_999_999} {
		require.InDelta(t, float64(k)/3000*1e9, float64(at[k]), 1)
	}
}

func TestStagesFollowOneAnother(t *testing.T) {
	stages := []plan.Stage{
		{For: 2 * time.Second, From: 100, To: 100},
		{For: 4 * time.Second, From: 100, To: 500},
		{For: time.Second},
		{For: 2 * time.Second, From: 500, To: 0},
	}
	s := plan.NewSchedule(stages)
	require.Equal(t, 9*time.Second, s.Length())
	at := times(s)
	require.Len(t, at, 200+1200+500)
	require.EqualValues(t, len(at), plan.NewSchedule(stages).Requests())
	for k := range at[1:] {
		require.LessOrEqual(t, at[k], at[k+1])
	}
	require.Equal(t, 2*time.Second, at[200], "the ramp begins with a request")
	// After half of the ramp 100·2 + 400·2²/(2·4) = 400 of its requests are due.
	require.InDelta(t, float64(4*time.Second), float64(at[600]), 1e3)
	require.Equal(t, 7*time.Second, at[1400], "nothing is planned during the pause")
}

// The planned times are where the integral of the rate reaches whole numbers.
func TestScheduleAgainstIntegration(t *testing.T) {
	stages := []plan.Stage{{For: 700 * time.Millisecond, From: 3, To: 41}, {For: 1300 * time.Millisecond, From: 41, To: 0.5}, {For: time.Second, From: 7.3, To: 7.3}}
	at := times(plan.NewSchedule(stages))
	const step = 10 * time.Microsecond
	var sum float64
	var began time.Duration
	k := 0
	for _, stage := range stages {
		for x := time.Duration(0); x < stage.For; x += step {
			if sum >= float64(k) {
				require.Less(t, k, len(at))
				require.InDelta(t, float64(began+x), float64(at[k]), float64(2*time.Millisecond), "request %d", k)
				k++
			}
			middle := float64(x+step/2) / float64(stage.For)
			sum += (stage.From + (stage.To-stage.From)*middle) * step.Seconds()
		}
		began += stage.For
	}
	require.Equal(t, len(at), k)
}

func TestSameSeedSameRequests(t *testing.T) {
	a, b, other := plan.NewPayload(20, 400, 5), plan.NewPayload(20, 400, 5), plan.NewPayload(20, 400, 6)
	same, sizes := 0, map[int]bool{}
	for k := range uint64(1000) {
		require.Equal(t, a.Params(k), b.Params(k))
		if string(a.Params(k)) == string(other.Params(k)) {
			same++
		}
		require.True(t, json.Valid(a.Params(k)))
		n := len(a.Params(k))
		require.True(t, n >= 20 && n <= 400)
		sizes[n] = true
	}
	require.Zero(t, same)
	require.Greater(t, len(sizes), 20)
}

func TestPayloadSizes(t *testing.T) {
	for _, size := range []int{plan.SizeMin, 12, 100, 4096, 1 << 20} {
		require.Len(t, plan.NewPayload(size, size, 1).Params(9), size)
	}
	require.Nil(t, plan.FixedPayload(nil).Params(3))
	for text, want := range map[string][2]int{"100": {100, 100}, "11..4096": {11, 4096}} {
		least, most, err := plan.ParseSize(text)
		require.NoError(t, err)
		require.Equal(t, want, [2]int{least, most})
	}
	for _, text := range []string{"", "10", "x", "200..100", "100..", "99999999999", "100..17000000"} {
		_, _, err := plan.ParseSize(text)
		require.Error(t, err, text)
	}
}

func TestToolParams(t *testing.T) {
	got, err := plan.ToolParams("echo", `{"message":"hi"}`, nil)
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"echo","arguments":{"message":"hi"}}`, string(got))
	got, err = plan.ToolParams("t", "", []byte(`{"a":1}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"t","arguments":{},"_meta":{"a":1}}`, string(got))
	for _, args := range []string{"[1]", "null", `{"a"`, "{} {}"} {
		_, err := plan.ToolParams("t", args, nil)
		require.Error(t, err, args)
	}
}

func TestParseRate(t *testing.T) {
	for text, want := range map[string]float64{"5000/s": 5000, "5k": 5000, "1.5M/s": 1.5e6, "90/m": 1.5, "36/h": 0.01, "0": 0} {
		got, err := plan.ParseRate(text)
		require.NoError(t, err, text)
		require.False(t, math.Abs(got-want) > 1e-12, text)
	}
}

// Scaling changes the rate from then on, and not how long the stages last.
func TestScale(t *testing.T) {
	stages := []plan.Stage{{For: 4 * time.Second, From: 100, To: 100}, {For: 4 * time.Second, From: 100, To: 300}}
	s := plan.NewSchedule(stages)
	var at []time.Duration
	for next, ok := s.Next(); ok; next, ok = s.Next() {
		if at = append(at, next); len(at) == 201 { // just due at 2 s
			s.Scale(2*time.Second, 2)
		}
		if len(at) == 601+300*2+1 { // in the middle of the ramp
			s.Scale(6*time.Second, 0.5)
		}
	}
	require.Equal(t, 8*time.Second, s.Length())
	// 200 in 2 s, twice 200 in the next 2, twice 300 in the first half of the ramp,
	// and 500 in the second half.
	require.InDelta(t, 200+400+600+500, len(at), 1)
	require.InDelta(t, float64(2005*time.Millisecond), float64(at[201]), float64(time.Millisecond))
	require.InDelta(t, float64(4*time.Second), float64(at[600]), float64(5*time.Millisecond))
	for k := range at[1:] {
		require.LessOrEqual(t, at[k], at[k+1])
	}
	require.Equal(t, 100.0, stages[0].From, "the caller's stages are its own")
}
