package report

import (
	"fmt"

	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/peer"
)

// serverFactors are by how much our server must be better than a rival's, by rate
// and by its processor time a call.
var serverFactors = []struct {
	rival  string
	demand float64
}{{peer.GoSDK, 15}, {peer.MCPGo, 5}}

func serverDemands(row *Row) (out []Verdict) {
	for _, f := range serverFactors {
		out = append(out, row.factor(f.rival, f.demand),
			row.compared(fmt.Sprintf("CPU/call ≤ 1/%g of %s", f.demand, f.rival), load.CPU, f.rival, func(ratio float64) (float64, bool) {
				return 1 / ratio, 1/ratio >= f.demand
			}))
	}
	return out
}
