package report

import (
	"fmt"

	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/peer"
)

// adapterFactors are by how much mcp-go's client must be faster over our transport
// than over its own, by the bytes of a payload: by rate and by its processor time a
// call in the first column, by its median latency in the second.
var adapterFactors = map[int]struct{ rate, p50 float64 }{100: {1.9, 2}, 4096: {1.5, 1.5}}

// adapterDemands: nothing is demanded of go-sdk's client, whose own table of calls
// and typed decoding stay below any transport.
func adapterDemands(row *Row) []Verdict {
	f, ok := adapterFactors[row.Bytes]
	if !ok {
		return nil
	}
	atMost := func(what, column string, factor float64) Verdict {
		return row.compared(fmt.Sprintf("%s ≤ 1/%g of %s's", what, factor, peer.MCPGo), column, peer.MCPGo, func(ratio float64) (float64, bool) {
			return ratio, ratio <= 1/factor
		})
	}
	return []Verdict{
		row.compared(fmt.Sprintf("calls/s ≥ %g× %s", f.rate, peer.MCPGo), load.Rate, peer.MCPGo, func(ratio float64) (float64, bool) {
			return ratio, ratio >= f.rate
		}),
		atMost("CPU/call", load.CPU, f.rate), atMost("p50", load.P50, f.p50),
	}
}
