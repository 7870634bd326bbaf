package bench

import (
	"runtime"

	"github.com/correlator-go/correlator/bench/claim"
)

func memoryClaims() []claim.Claim {
	names := []string{bareName, engineName, stringsName, naiveName, goSDKName}
	measure := func(s *claim.Session) (*claim.Series, error) {
		var contenders []claim.Contender
		for _, t := range names {
			contenders = append(contenders, role(s, t, "memory", t, "1000000"))
		}
		return s.SeriesOf("memory, 1M pending", 3, contenders...)
	}
	most := map[string]float64{bareName: 96, engineName: 136, stringsName: 200}
	var all []claim.Claim
	for _, name := range names {
		c := claim.Claim{
			Area: engineArea, Name: "1M pending, memory a call: " + name, Unit: "bytes",
			Measure: func(s *claim.Session) (float64, error) {
				series, err := measure(s)
				return series.Median("bytes", name), err
			},
		}
		if demand, ok := most[name]; ok {
			c.Bound, c.Demand = claim.AtMost, demand
		}
		all = append(all, c)
	}
	flat := func(metric string) func(*claim.Session) (float64, error) {
		return func(s *claim.Session) (float64, error) {
			series, err := s.SeriesOf("50M calls", 1, role(s, engineName, "flat", "50000000"))
			return series.Largest(metric, engineName), err
		}
	}
	growth := func(s *claim.Session) (*claim.Series, error) {
		return s.Series("growth", role(s, engineName, "growth", engineName), role(s, mutexMapName, "growth", mutexMapName))
	}
	return append(all, []claim.Claim{
		{Area: engineArea, Name: "1M pending, a GC cycle: engine against naive", Bound: claim.AtMost, Demand: 0.2, Unit: "of its time",
			Measure: func(s *claim.Session) (float64, error) {
				series, err := measure(s)
				return series.Ratio("gc", engineName, naiveName), err
			}},
		{Area: engineArea, Name: "1M pending, a GC cycle", Unit: "ns",
			Measure: func(s *claim.Session) (float64, error) {
				series, err := measure(s)
				return series.Median("gc", engineName), err
			}},
		{Area: engineArea, Name: "50M calls, 1,000 in flight: heap growth", Bound: claim.AtMost, Demand: 1, Unit: "%", Measure: flat("growth")},
		{Area: engineArea, Name: "50M calls, 1,000 in flight: slots above 1,000", Bound: claim.AtMost,
			Demand: float64(16 * runtime.GOMAXPROCS(0)), Unit: "slots", Measure: flat("slots")},
		{Area: engineArea, Name: "50M calls: wheel visits a slot and timeout period", Bound: claim.AtMost, Demand: 3, Unit: "visits", Measure: flat("visits")},
		{Area: engineArea, Name: "fail-all, a million nobody waits for", Bound: claim.AtMost, Demand: 50, Unit: "ns a call",
			Measure: func(s *claim.Session) (float64, error) {
				series, err := s.SeriesOf("fail-all", 3, role(s, engineName, "failall"))
				return series.Median("ns", engineName), err
			}},
		{Area: engineArea, Name: "growing to 1M, p99.99 of a registration: against map and mutex", Bound: claim.AtMost, Demand: 0.5, Unit: "of its time",
			Measure: func(s *claim.Session) (float64, error) {
				series, err := growth(s)
				return series.Ratio("p99.99", engineName, mutexMapName), err
			}},
		{Area: engineArea, Name: "growing to 1M, p99.99 of a registration", Unit: "ns",
			Measure: func(s *claim.Session) (float64, error) {
				series, err := growth(s)
				return series.Median("p99.99", engineName), err
			}},
	}...)
}
