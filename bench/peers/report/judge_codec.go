package report

import (
	"fmt"

	"github.com/correlator-go/correlator/bench/peers/wire"
)

// codecFactors are by how much the codec must be faster than a library, by what is
// done.
var codecFactors = map[string][]struct {
	library string
	demand  float64
}{
	wire.Response: {{wire.JSONv2, 12}, {wire.JSONParser, 3}, {wire.GoSDK, 200}},
	wire.Request:  {{wire.JSONv2, 4}, {wire.GoSDK, 40}},
	wire.Text:     {{wire.JSONv2, 7}, {wire.GoSDK, 45}},
	wire.Nested:   {{wire.Segmentio, 1.7}, {wire.JSONv2, 3.3}},
	wire.Mix:      {{wire.JSONv2, 4.2}, {wire.GoSDK, 45}},
	wire.Objects:  {{wire.Segmentio, 1.3}, {wire.JSONv2, 3}},
	wire.SpliceA:  {{wire.GoSDK, 80}},
	wire.SpliceB:  {{wire.GoSDK, 80}},
	wire.SpliceC:  {{wire.GoSDK, 80}},
	wire.Encode:   {{wire.Segmentio, 1.4}},
	wire.Header:   {{wire.JRPC2, 3.2}},
	wire.Lines:    {{wire.GoSDK, 30}},
}

func codecDemands(row *Row) []Verdict {
	var out []Verdict
	for _, f := range codecFactors[row.Shape] {
		out = append(out, row.compared(fmt.Sprintf("≥ %g× as fast as %s", f.demand, f.library), Time, f.library, func(r float64) (float64, bool) {
			return 1 / r, 1/r >= f.demand
		}))
	}
	return out
}
