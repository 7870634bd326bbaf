package report

import (
	"fmt"

	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/peer"
)

// adapterFactors are by how much mcp-go's client must be faster over our transport
// than over its own, by the bytes of a payload; its median latency is to fall by the
// factor of the second column.
var adapterFactors = map[int]struct{ rate, p50 float64 }{100: {1.9, 2}, 4096: {1.5, 1.5}}

// adapterDemands: nothing is demanded of go-sdk's client, whose own table of calls
// and typed decoding stay below any transport.
func adapterDemands(row *Row) []Verdict {
	f, ok := adapterFactors[row.Bytes]
	if !ok {
		return nil
	}
	return []Verdict{
		row.compared(fmt.Sprintf("calls/s ≥ %g× %s", f.rate, peer.MCPGo), load.Rate, peer.MCPGo, func(ratio float64) (float64, bool) {
			return ratio, ratio >= f.rate
		}),
		row.compared(fmt.Sprintf("p50 ≤ 1/%g of %s's", f.p50, peer.MCPGo), load.P50, peer.MCPGo, func(ratio float64) (float64, bool) {
			return ratio, ratio <= 1/f.p50
		}),
	}
}
