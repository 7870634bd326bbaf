package bench

import "github.com/correlator-go/correlator/bench/claim"

const mcpArea = "mcp"

// mcpClaims are about the reducer alone. What a server made of it does is measured
// beside its rivals in bench/peers.
func mcpClaims() []claim.Claim {
	step := onSeries(func(s *claim.Session) (*claim.Series, error) {
		return s.Series("step", claim.Contender{Name: "step", Run: func() (claim.Values, error) { return s.Child("step") }})
	})
	return []claim.Claim{{
		Area: mcpArea, Name: "Step for a tools/call, against the scan of its frame", Bound: claim.AtMost, Demand: 4, Unit: "times",
		Measure: step.ratio("step", "received", "step", "scan"),
	}, {
		Area: mcpArea, Name: "Step for a tools/call", Unit: "ns", Measure: step.median("step", "received"),
	}, {
		Area: mcpArea, Name: "Step for its answer", Unit: "ns", Measure: step.median("step", "finished"),
	}, {
		Area: mcpArea, Name: "allocations of both", Bound: claim.AtMost, Demand: 3, Unit: "allocs", Measure: step.largest("step", "allocs"),
	}}
}
