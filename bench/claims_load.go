package bench

import (
	"strconv"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
)

const (
	loadArea    = "loadgen"
	handName    = "hand"
	loadgenName = "loadgen"
	// submittedName is one goroutine that submits what has come free.
	submittedName = "submitted"
)

// loadClaims are about what the load generator adds to the calls that it makes:
// planning, two clock readings, two histograms and an accounting per call, against
// the same load written by hand, which does none of that.
func loadClaims() []claim.Claim {
	const (
		each    = 700 * time.Millisecond
		callers = 1024
		size    = 100
	)
	kinds := []string{submittedName, callbacksConnName, blockingName}
	measured := onSeries(func(s *claim.Session) (*claim.Series, error) {
		address, stop, err := s.Serve("echo")
		if err != nil {
			return nil, err
		}
		defer stop()
		var contenders []claim.Contender
		for _, kind := range kinds {
			for _, who := range []string{handName, loadgenName} {
				contenders = append(contenders, role(s, who+" "+kind, "load", who, kind, address, strconv.Itoa(callers), strconv.Itoa(size), each.String()))
			}
		}
		// Not the same load: four batches, each submitted again when all of it was
		// answered. It is the least that a call costs.
		contenders = append(contenders, role(s, handName+" "+batchesName, "load", handName, batchesName, address,
			strconv.Itoa(callers), strconv.Itoa(size), each.String()))
		return s.Series("loadgen", contenders...)
	})
	all := []claim.Claim{{Area: loadArea, Name: "1,024 in flight, four batches: by hand", Unit: "ns", Measure: measured.median(handName+" "+batchesName, "cpu")}}
	for _, kind := range kinds {
		hand, loadgen := handName+" "+kind, loadgenName+" "+kind
		what := "1,024 in flight, " + kind + ": "
		all = append(all,
			claim.Claim{Area: loadArea, Name: what + "by hand", Unit: "ns", Measure: measured.median(hand, "cpu")},
			claim.Claim{Area: loadArea, Name: what + "by loadgen", Unit: "ns", Measure: measured.median(loadgen, "cpu")},
			claim.Claim{Area: loadArea, Name: what + "loadgen's own part", Bound: claim.AtMost, Demand: 0.25, Unit: "of a call's CPU",
				Measure: func(s *claim.Session) (float64, error) {
					series, err := measured(s)
					return series.Compute(func(round map[string]claim.Values) float64 {
						return 1 - round[hand]["cpu"]/round[loadgen]["cpu"]
					}), err
				}})
	}
	return all
}
