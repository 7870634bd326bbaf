package claim_test

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/claim"
)

func TestJudge(t *testing.T) {
	most := claim.Claim{Bound: claim.AtMost, Demand: 2}
	require.Equal(t, claim.OK, most.Judge(2))
	require.Equal(t, claim.Short, most.Judge(2.01))
	require.Equal(t, claim.Short, most.Judge(math.NaN()))
	least := claim.Claim{Bound: claim.AtLeast, Demand: 2}
	require.Equal(t, claim.OK, least.Judge(2))
	require.Equal(t, claim.Short, least.Judge(1.99))
	require.Equal(t, claim.ShownOK, claim.Claim{}.Judge(7))
}

// counted returns a contender that measures 1, 2, 3… times factor and notes its
// turns in order.
func counted(name string, factor float64, order *[]string) claim.Contender {
	n := 0.0
	return claim.Contender{Name: name, Run: func() (claim.Values, error) {
		n++
		*order = append(*order, name)
		return claim.Values{"ns/op": n * factor}, nil
	}}
}

func TestSeriesInterleavesAndRunsOnce(t *testing.T) {
	var order []string
	s := claim.NewSession(4, new(bytes.Buffer))
	series, err := s.Series("x", counted("a", 1, &order), counted("b", 10, &order), counted("c", 5, &order))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c", "c", "b", "a", "b", "c", "a", "b", "a", "c"}, order)
	require.Equal(t, 2.5, series.Median("ns/op", "a"))
	require.Equal(t, 0.1, series.Ratio("ns/op", "a", "b"))
	require.Equal(t, 40.0, series.Largest("ns/op", "b"))
	require.True(t, math.IsNaN(series.Median("ns/op", "nobody")))
	again, err := s.Series("x")
	require.NoError(t, err)
	require.Same(t, series, again)
	require.Len(t, order, 12)
}

func TestMainReports(t *testing.T) {
	value := func(v float64, err error) func(*claim.Session) (float64, error) {
		return func(*claim.Session) (float64, error) { return v, err }
	}
	claims := []claim.Claim{
		{Area: "a", Name: "good", Bound: claim.AtMost, Demand: 2, Unit: "x", Measure: value(1, nil)},
		{Area: "a", Name: "bad", Bound: claim.AtLeast, Demand: 2, Measure: value(1, nil)},
		{Area: "b", Name: "broken", Bound: claim.AtLeast, Demand: 2, Measure: value(0, errors.New("no luck"))},
		{Area: "b", Name: "seen", Measure: value(123456, nil)},
	}
	var out, log bytes.Buffer
	require.Equal(t, 1, claim.Main([]string{"-json"}, &out, &log, claims, nil))
	require.Equal(t, `{"area":"a","name":"good","bound":"at most","demand":2,"measured":1,"unit":"x","verdict":"ok"}
{"area":"a","name":"bad","bound":"at least","demand":2,"measured":1,"verdict":"short"}
{"area":"b","name":"broken","bound":"at least","demand":2,"verdict":"failed","error":"no luck"}
{"area":"b","name":"seen","bound":"shown","measured":123456,"verdict":"shown"}
`, out.String())
	require.Contains(t, log.String(), "4 claims, 2 short or failed")

	out.Reset()
	require.Equal(t, 1, claim.Main(nil, &out, &log, claims, nil))
	require.Regexp(t, `a +good +≤ 2 x +1 x +ok\n`, out.String())
	require.Regexp(t, `b +broken +≥ 2 +failed: no luck\n`, out.String())
	out.Reset()
	require.Zero(t, claim.Main([]string{"-markdown", "-list"}, &out, &log, claims, nil))
	require.Contains(t, out.String(), "| a | good | ≤ 2 x |  |  |\n")
	require.Zero(t, claim.Main([]string{"-help"}, &out, &log, claims, nil))

	out.Reset()
	require.Zero(t, claim.Main([]string{"-only", "good|seen"}, &out, &log, claims, nil))
	require.Equal(t, 2, bytes.Count(out.Bytes(), []byte("\n")))
	require.Equal(t, 2, claim.Main([]string{"-only", "("}, &out, &log, claims, nil))
	require.Equal(t, 2, claim.Main([]string{"-nonsense"}, &out, &log, claims, nil))
}

func TestMainPlaysRoles(t *testing.T) {
	roles := map[string]claim.Role{
		"count": func(args []string) (claim.Values, error) {
			return claim.Values{"args": float64(len(args))}, nil
		},
	}
	var out, log bytes.Buffer
	require.Zero(t, claim.Main([]string{"-role", "count", "x", "y"}, &out, &log, nil, roles))
	require.Equal(t, "{\"args\":2}\n", out.String())
	require.Equal(t, 1, claim.Main([]string{"-role", "unknown"}, &out, &log, nil, roles))
	require.Equal(t, 1, claim.Main([]string{"-role"}, &out, &log, nil, roles))
}
