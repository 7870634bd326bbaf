package bench

import (
	"strings"

	"github.com/correlator-go/correlator/bench/claim"
)

const serveArea = "serve"

// serveClaims are about the server around the reducer: what a report of progress
// costs, and what well-behaved clients notice of others. Against the servers of
// other libraries it is measured in bench/peers.
func serveClaims() []claim.Claim {
	reports := onSeries(func(s *claim.Session) (*claim.Series, error) {
		return s.Series("reports", role(s, "report", "report"))
	})
	beside := onSeries(func(s *claim.Session) (*claim.Series, error) {
		line, stop, err := s.Serve("tools")
		if err != nil {
			return nil, err
		}
		defer stop()
		stream, web, _ := strings.Cut(line, ",")
		neighbours := func() (claim.Values, error) { return s.Child("neighbours", stream) }
		return s.Series("hostile client", claim.Contender{Name: "alone", Run: neighbours}, claim.Contender{Name: "beside", Run: func() (claim.Values, error) {
			_, stop, err := s.Serve("hostile", stream, web)
			if err != nil {
				return nil, err
			}
			defer stop()
			return neighbours()
		}})
	})
	return []claim.Claim{
		{Area: serveArea, Name: "a progress report with its ack: parks and wakes", Bound: claim.AtMost, Demand: 3, Unit: "times",
			Measure: reports.median("report", "parks")},
		{Area: serveArea, Name: "a progress report with its ack", Unit: "ns", Measure: reports.median("report", "ns")},
		{Area: serveArea, Name: "p99 of 64 callers beside a hostile client", Bound: claim.AtMost, Demand: 2, Unit: "of without",
			Measure: beside.ratio("beside", "p99", "alone", "p99")},
		{Area: serveArea, Name: "p99 of 64 callers", Unit: "ns", Measure: beside.median("alone", "p99")},
	}
}
