package bench

import (
	"fmt"
	"strconv"

	"github.com/correlator-go/correlator/bench/claim"
)

// role is a contender that plays a role in a child process. Its name is the
// role's.
func role(s *claim.Session, name, role string, args ...string) claim.Contender {
	return claim.Contender{Name: name, Run: func() (claim.Values, error) { return s.Child(role, args...) }}
}

func deadlineClaims() []claim.Claim {
	var all []claim.Claim
	for _, armed := range []int{0, 1_000_000} {
		all = append(all, armClaims(armed)...)
	}
	late := func(s *claim.Session) (*claim.Series, error) {
		return s.Series("lateness", role(s, "late", "lateness"))
	}
	storm := func(s *claim.Session) (*claim.Series, error) {
		return s.SeriesOf("storm", 3, role(s, engineName, "storm", engineName), role(s, afterFuncName, "storm", afterFuncName))
	}
	idle := func(s *claim.Session) (*claim.Series, error) {
		return s.SeriesOf("idle engines", 2, role(s, engineName, "idle"))
	}
	lateness := func(metric string) func(*claim.Session) (float64, error) {
		return func(s *claim.Session) (float64, error) {
			series, err := late(s)
			return series.Median(metric, "late"), err
		}
	}
	atIdle := func(metric string) func(*claim.Session) (float64, error) {
		return func(s *claim.Session) (float64, error) {
			series, err := idle(s)
			return series.Largest(metric, engineName), err
		}
	}
	return append(all, []claim.Claim{
		{Area: engineArea, Name: "deadlines that fired early", Bound: claim.AtMost, Demand: 0, Unit: "calls",
			Measure: func(s *claim.Session) (float64, error) {
				series, err := late(s)
				if err != nil {
					return 0, err
				}
				storms, err := storm(s)
				return series.Largest("early", "late") + storms.Largest("early", engineName), err
			}},
		{Area: engineArea, Name: "a deadline's lateness, p99", Unit: "ns", Measure: lateness("p99")},
		{Area: engineArea, Name: "AfterFunc's lateness, p99, in the same process", Unit: "ns", Measure: lateness("AfterFunc p99")},
		{Area: engineArea, Name: "lateness, p99, against one tick and AfterFunc's p99", Bound: claim.AtMost, Demand: 1, Unit: "of it",
			Measure: func(s *claim.Session) (float64, error) {
				series, err := late(s)
				return series.Compute(func(round map[string]claim.Values) float64 {
					const tick = 1e6
					v := round["late"]
					return v["p99"] / (tick + v["AfterFunc p99"])
				}), err
			}},
		{Area: engineArea, Name: "a million due at once, the last one fired after", Unit: "ns",
			Measure: func(s *claim.Session) (float64, error) {
				series, err := storm(s)
				return series.Median("ns", engineName), err
			}},
		{Area: engineArea, Name: "a million due at once, against AfterFunc", Bound: claim.AtMost, Demand: 0.25, Unit: "of its time",
			Measure: func(s *claim.Session) (float64, error) {
				series, err := storm(s)
				return series.Ratio("ns", engineName, afterFuncName), err
			}},
		{Area: engineArea, Name: "timeouts of 50 ms and 30 s mixed: driver's runs", Bound: claim.AtMost, Demand: 1, Unit: "a tick",
			Measure: func(s *claim.Session) (float64, error) {
				series, err := s.SeriesOf("wake-ups", 3, role(s, engineName, "wake"))
				return series.Median("runs", engineName), err
			}},
		{Area: engineArea, Name: "2,000 empty engines: driver's runs in 1 s", Bound: claim.AtMost, Demand: 0, Unit: "runs", Measure: atIdle("runs, empty")},
		{Area: engineArea, Name: "2,000 engines with a call of 30 s each: runs in 1 s", Bound: claim.AtMost, Demand: 0, Unit: "runs", Measure: atIdle("runs, one call")},
		{Area: engineArea, Name: "2,000 engines: goroutines", Bound: claim.AtMost, Demand: 0, Unit: "goroutines", Measure: atIdle("goroutines")},
		{Area: engineArea, Name: "an empty engine", Bound: claim.AtMost, Demand: 4096, Unit: "bytes", Measure: atIdle("bytes")},
	}...)
}

// armClaims are about what a deadline adds to a call, with so many armed
// meanwhile.
//
// The engine reads the clock once a call in any case, for the start time. Arming
// and cancelling are therefore charged with that clock read too; the marginal cost
// is the bare difference.
func armClaims(armed int) []claim.Claim {
	measure := func(s *claim.Session) (*claim.Series, error) {
		n := strconv.Itoa(armed)
		return s.Series("deadlines, armed "+n, role(s, engineName, "deadline", n), role(s, afterFuncName, "timers", n))
	}
	of := func(f func(with, without, clock, afterFunc float64) float64) func(*claim.Session) (float64, error) {
		return func(s *claim.Session) (float64, error) {
			series, err := measure(s)
			return series.Compute(func(round map[string]claim.Values) float64 {
				e, t := round[engineName], round[afterFuncName]
				return f(e["with"], e["without"], t["clock"], t["AfterFunc"])
			}), err
		}
	}
	name := fmt.Sprintf("%d armed: ", armed)
	claims := []claim.Claim{
		{Area: engineArea, Name: name + "arm and cancel, against AfterFunc and Stop", Bound: claim.AtMost, Demand: 0.25, Unit: "of its time",
			Measure: of(func(with, without, clock, afterFunc float64) float64 { return (with - without + clock) / afterFunc })},
		{Area: engineArea, Name: name + "AfterFunc and Stop", Unit: "ns",
			Measure: of(func(_, _, _, afterFunc float64) float64 { return afterFunc })},
	}
	if armed == 0 {
		claims = append(claims, claim.Claim{
			Area: engineArea, Name: "what its deadlines add to a call", Bound: claim.AtMost, Demand: 1.6, Unit: "clock reads",
			Measure: of(func(with, without, clock, _ float64) float64 { return (with - without) / clock }),
		})
	}
	return claims
}
