package report

import (
	"fmt"
	"iter"

	"github.com/correlator-go/correlator/bench/peers/peer"
)

// The plans.
const (
	Quick = "quick"
	Full  = "full"
	Check = "check"
)

// The transports of closed loops.
const (
	Unix = "unix"
	TCP  = "tcp"
	Pipe = "pipe"
)

// The sizes of payloads.
const (
	Small = 100
	Large = 4096
)

// ClosedRows are the closed loops of a plan, none for another name: every transport,
// both sizes, 1 to 10,000 callers; with Check those of 64 and 1,024.
func ClosedRows(plan string) iter.Seq[Row] {
	callers := map[string][]int{Quick: {1, 64, 1024, 10000}, Full: {1, 64, 1024, 10000}, Check: {64, 1024}}[plan]
	return func(yield func(Row) bool) {
		for _, transport := range []string{Unix, TCP, Pipe} {
			for _, bytes := range []int{Small, Large} {
				for _, n := range callers {
					if !yield(Row{Scenario: Closed, Transport: transport, Callers: n, Bytes: bytes}) {
						return
					}
				}
			}
		}
	}
}

// holes demands that a report has the closed loops of its plan, and in every row
// figures of each of ours that took part.
func (r *Report) holes() (out []Verdict) {
	for want := range ClosedRows(r.Plan) {
		if r.Find(want) == nil {
			out = append(out, Verdict{want.Title(), fmt.Sprintf("a row of the plan %q", r.Plan), "not measured", Unknown})
		}
	}
	for _, row := range r.Rows {
		for _, e := range row.Entries {
			if e.Class == peer.Ours && e.Failed != "" && e.Peer != subject(row) {
				out = append(out, Verdict{row.Title(), "figures of " + e.Peer, why(e), Unknown})
			}
		}
	}
	return out
}
