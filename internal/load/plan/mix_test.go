package plan_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/plan"
)

func mixOf(t *testing.T, seed uint64, weights ...float64) *plan.Mix {
	t.Helper()
	var entries []plan.Entry
	for i, w := range weights {
		entries = append(entries, plan.Entry{Name: fmt.Sprint(i), Method: "m", Payload: plan.NewPayload(50, 500, plan.Subseed(seed, i)), Weight: w})
	}
	m, err := plan.NewMix(entries, seed)
	require.NoError(t, err)
	return m
}

// Which request is the k-th depends on the seed and k alone, and the shares are
// those of the weights.
func TestMixBySeed(t *testing.T) {
	const n = 100_000
	a, b, other := mixOf(t, 3, 6, 3, 1), mixOf(t, 3, 6, 3, 1), mixOf(t, 4, 6, 3, 1)
	var counts [3]int
	same := 0
	for k := range uint64(n) {
		entry, params := a.Pick(k)
		counts[entry]++
		again, bytes := b.Pick(k)
		require.Equal(t, entry, again)
		require.Equal(t, params, bytes)
		if _, foreign := other.Pick(k); string(foreign) == string(params) {
			same++
		}
	}
	require.InDelta(t, 0.6*n, counts[0], 0.01*n)
	require.InDelta(t, 0.3*n, counts[1], 0.01*n)
	require.InDelta(t, 0.1*n, counts[2], 0.01*n)
	require.Zero(t, same)
	require.InDelta(t, 0.3, a.Share(1), 1e-9)
	require.InDelta(t, 1, a.Share(0)+a.Share(1)+a.Share(2), 1e-9)
}

// The kind of a request says nothing about its params: all of an entry's sizes come.
func TestMixIsIndependentOfParams(t *testing.T) {
	m := mixOf(t, 5, 1, 1)
	sizes := [2]map[int]bool{{}, {}}
	for k := range uint64(5000) {
		entry, params := m.Pick(k)
		sizes[entry][len(params)] = true
	}
	require.Greater(t, len(sizes[0]), 40)
	require.Greater(t, len(sizes[1]), 40)
}

func TestMixMistakes(t *testing.T) {
	for _, weights := range [][]float64{{}, {0}, {1, -1}, {math.NaN()}, {math.Inf(1)}, make([]float64, plan.EntriesMax+1)} {
		entries := make([]plan.Entry, len(weights))
		for i := range entries {
			entries[i].Weight = weights[i]
		}
		_, err := plan.NewMix(entries, 1)
		require.Error(t, err, weights)
	}
}

func TestParseMix(t *testing.T) {
	got, err := plan.ParseMix([]byte(`[
		{"method":"a","size":"20..40","weight":3},
		{"name":"the call","method":"b","params":{"k": [1, 2]}},
		{"tool":"search","args":{"q":"x"},"weight":0.5},
		{"method":"c"}
	]`))
	require.NoError(t, err)
	require.Len(t, got, 4)
	for i, want := range []struct {
		entry  plan.Entry
		params string
		says   string
	}{
		{plan.Entry{Name: "a", Method: "a", Weight: 3}, "", "with 20..40 B of params"},
		{plan.Entry{Name: "the call", Method: "b", Weight: 1}, `{"k":[1,2]}`, "with 13 B of params"},
		{plan.Entry{Name: "search", Method: "tools/call", Weight: 0.5, Tool: true}, `{"name":"search","arguments":{"q":"x"}}`, "of search with 9 B of arguments"},
		{plan.Entry{Name: "c", Method: "c", Weight: 1}, "", "without params"},
	} {
		entry, err := got[i].Entry(1, nil)
		require.NoError(t, err)
		require.Equal(t, want.says, got[i].Describe())
		params := entry.Payload.Params(7)
		if i == 0 {
			require.True(t, len(params) >= 20 && len(params) <= 40 && json.Valid(params))
		} else {
			require.Equal(t, want.params, string(params))
		}
		entry.Payload = nil
		require.Equal(t, want.entry, entry)
	}
}

// What the revision asks for is added, unless it is there.
func TestMeta(t *testing.T) {
	meta := []byte(`{"v":1}`)
	for text, want := range map[string]string{
		`{"method":"a"}`:                                 `{"_meta":{"v":1}}`,
		`{"method":"a","params":{"x":2}}`:                `{"_meta":{"v":1},"x":2}`,
		`{"method":"a","params":{"_meta":{"own":true}}}`: `{"_meta":{"own":true}}`,
		`{"tool":"t"}`:                                   `{"name":"t","arguments":{},"_meta":{"v":1}}`,
		`{"tool":"t","args":{"a":1},"name":"n"}`:         `{"name":"t","arguments":{"a":1},"_meta":{"v":1}}`,
	} {
		r, err := plan.ParseMix([]byte("[" + text + "]"))
		require.NoError(t, err, text)
		entry, err := r[0].Entry(1, meta)
		require.NoError(t, err, text)
		require.JSONEq(t, want, string(entry.Payload.Params(0)), text)
	}
	for _, r := range []plan.Request{{Method: "a", Size: "100"}, {Method: "a", Params: []byte(`[1]`)}} {
		_, err := r.Entry(1, meta)
		require.Error(t, err)
	}
}

func TestParseMixSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		``:                            "JSON array",
		`{}`:                          "JSON array",
		`[]`:                          "no request",
		`[{"method":"a"}] x`:          "JSON array",
		`[{"method":"a"},{}]`:         "request 2 of 2",
		`[{"method":"a","tool":"b"}]`: "one of method and tool",
		`[{"tool":"b","params":{}}]`:  "a tool has args",
		`[{"tool":"b","args":[1]}]`:   "not a JSON object",
		`[{"method":"a","args":{}}]`:  "args are a tool's",
		`[{"method":"a","params":5}]`: "an object or an array",
		`[{"method":"a","params":{},"size":"100"}]`: "two ways",
		`[{"method":"a","size":"5"}]`:               "size",
		`[{"method":"a","weight":0}]`:               "weight",
		`[{"method":"a","wieght":1}]`:               "wieght",
		`[7]`:                                       "request 1 of 1",
	} {
		_, err := plan.ParseMix([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

func ExampleMix_Pick() {
	mix, _ := plan.NewMix([]plan.Entry{
		{Name: "read", Method: "read", Payload: plan.FixedPayload(nil), Weight: 9},
		{Name: "write", Method: "write", Payload: plan.FixedPayload(nil), Weight: 1},
	}, 1)
	var counts [2]int
	for k := range uint64(1000) {
		entry, _ := mix.Pick(k)
		counts[entry]++
	}
	fmt.Println(counts[0] > 870, counts[0]+counts[1])
	// Output: true 1000
}
