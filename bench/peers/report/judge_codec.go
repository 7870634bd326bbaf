package report

import "fmt"

// codecFactors are by how much the codec must be faster than a library, by the
// shape of what it reads.
var codecFactors = map[string][]struct {
	library string
	demand  float64
}{}

func codecDemands(row *Row) []Verdict {
	var out []Verdict
	for _, f := range codecFactors[row.Shape] {
		out = append(out, row.compared(fmt.Sprintf("≥ %g× as fast as %s", f.demand, f.library), Time, f.library, func(r float64) (float64, bool) {
			return 1 / r, 1/r >= f.demand
		}))
	}
	return out
}
