package bench

import (
	"fmt"
	"strconv"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
)

const coresArea = "cores"

// coresClaims are the same work on one CPU and on two, for the engine beside its
// rivals and for a connection beside the floor.
func coresClaims() []claim.Claim {
	const workload = "window/64"
	on := func(name string, cpus int) string { return fmt.Sprintf("%s on %d", name, cpus) }
	tablesOn := onSeries(func(s *claim.Session) (*claim.Series, error) {
		var contenders []claim.Contender
		for _, t := range coresTables {
			for _, cpus := range []int{1, 2} {
				contenders = append(contenders, role(s, on(t, cpus), "cores", strconv.Itoa(cpus), "table", t, "1000", "150ms", workload))
			}
		}
		return s.SeriesOf("engine, 1 and 2 CPUs", 3, contenders...)
	})
	kinds := []string{floorName, blockingName, callbacksConnName, batchesName}
	socketsOn := onSeries(func(s *claim.Session) (*claim.Series, error) {
		address, stop, err := s.Serve("echo")
		if err != nil {
			return nil, err
		}
		defer stop()
		var contenders []claim.Contender
		for _, kind := range kinds {
			for _, cpus := range []int{1, 2} {
				contenders = append(contenders, role(s, on(kind, cpus), "cores", strconv.Itoa(cpus), "conn", kind, address, "1024", "100",
					(500*time.Millisecond).String()))
			}
		}
		return s.SeriesOf("unix socket, 1 and 2 CPUs", 3, contenders...)
	})
	var all []claim.Claim
	for _, t := range coresTables {
		name := "1k pending, 64 goroutines: " + t
		all = append(all,
			claim.Claim{Area: coresArea, Name: name + ", GOMAXPROCS=1", Unit: "ns", Measure: tablesOn.median(on(t, 1), workload)},
			claim.Claim{Area: coresArea, Name: name + ", GOMAXPROCS=2", Unit: "ns", Measure: tablesOn.median(on(t, 2), workload)},
			claim.Claim{Area: coresArea, Name: name + ", a second CPU", Unit: "of its time", Measure: tablesOn.ratio(on(t, 2), workload, on(t, 1), workload)})
	}
	for _, kind := range kinds {
		name := "1,024 in flight, 100 bytes: " + kind
		all = append(all,
			claim.Claim{Area: coresArea, Name: name + ", GOMAXPROCS=1", Unit: "calls/s", Measure: socketsOn.median(on(kind, 1), "calls/s")},
			claim.Claim{Area: coresArea, Name: name + ", a second CPU", Unit: "of its rate", Measure: socketsOn.ratio(on(kind, 2), "calls/s", on(kind, 1), "calls/s")})
	}
	return all
}

var coresTables = []string{engineName, stringsName, naiveName, goSDKName, cardPooledName}
