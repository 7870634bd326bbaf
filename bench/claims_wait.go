package bench

import (
	"fmt"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
)

// waitClaims are about waiters that park, and about allocations.
func waitClaims() []claim.Claim {
	callers := []int{1, 64, 1024}
	measure := func(s *claim.Session) (*claim.Series, error) {
		what := []string{"cross"}
		for _, n := range callers {
			what = append(what, fmt.Sprintf("pipe/%d", n))
		}
		var contenders []claim.Contender
		for _, t := range []string{engineName, naiveName, goSDKName, cardPooledName} {
			contenders = append(contenders, tableChild(s, t, 0, 150*time.Millisecond, what...))
		}
		return s.Series("waiting", contenders...)
	}
	claimOf := func(name, what, against string, most float64) claim.Claim {
		return claim.Claim{
			Area: engineArea, Name: name + ": engine against " + against, Bound: claim.AtMost, Demand: most, Unit: "of its time",
			Measure: func(s *claim.Session) (float64, error) {
				series, err := measure(s)
				return series.Ratio(what, engineName, against), err
			},
		}
	}
	shown := func(name, what, table string) claim.Claim {
		return claim.Claim{
			Area: engineArea, Name: name + ": " + table, Unit: "ns",
			Measure: func(s *claim.Session) (float64, error) {
				series, err := measure(s)
				return series.Median(what, table), err
			},
		}
	}
	var all []claim.Claim
	for _, n := range callers {
		name, what := fmt.Sprintf("%d parking", n), fmt.Sprintf("pipe/%d", n)
		all = append(all, shown(name, what, engineName), shown(name, what, cardPooledName),
			claimOf(name, what, naiveName, 0.70), claimOf(name, what, goSDKName, 0.55))
	}
	all = append(all, shown("answered on another core", "cross", engineName),
		claimOf("answered on another core", "cross", naiveName, 0.28))
	return append(all, allocClaims()...)
}

func allocClaims() []claim.Claim {
	names := []string{engineName, callbacksName, readyKeysName, naiveName, goSDKName, cardName, cardPooledName}
	measure := func(s *claim.Session) (*claim.Series, error) {
		var contenders []claim.Contender
		for _, t := range names {
			contenders = append(contenders, tableChild(s, t, 1000, time.Millisecond, "allocs"))
		}
		return s.SeriesOf("allocations", 3, contenders...)
	}
	var all []claim.Claim
	for _, name := range names {
		c := claim.Claim{
			Area: engineArea, Name: "allocations a call: " + name, Unit: "allocs",
			Measure: func(s *claim.Session) (float64, error) {
				series, err := measure(s)
				return series.Median("allocs", name), err
			},
		}
		switch name {
		case engineName, callbacksName:
			c.Bound, c.Demand = claim.AtMost, 0.001 // what the runtime itself does meanwhile
		case readyKeysName:
			c.Bound, c.Demand = claim.AtMost, 1.001
		}
		all = append(all, c)
	}
	return all
}
