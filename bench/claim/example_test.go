package claim_test

import (
	"io"
	"os"

	"github.com/correlator-go/correlator/bench/claim"
)

func Example() {
	fast := func() (claim.Values, error) { return claim.Values{"ns": 20}, nil }
	slow := func() (claim.Values, error) { return claim.Values{"ns": 100}, nil }
	claims := []claim.Claim{{
		Area: "demo", Name: "fast against slow", Bound: claim.AtMost, Demand: 0.25, Unit: "of its time",
		Measure: func(s *claim.Session) (float64, error) {
			series, err := s.Series("demo", claim.Contender{Name: "fast", Run: fast}, claim.Contender{Name: "slow", Run: slow})
			return series.Ratio("ns", "fast", "slow"), err
		},
	}}
	claim.Main([]string{"-json"}, os.Stdout, io.Discard, claims, nil)
	// Output:
	// {"area":"demo","name":"fast against slow","bound":"at most","demand":0.25,"measured":0.2,"unit":"of its time","verdict":"ok"}
}
