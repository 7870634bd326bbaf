package main

import (
	"fmt"
	"strings"
)

// adapterTable is a table in Markdown of a rival's client over its own transport and
// over ours, for the blocks
//
//	<!-- adapters: mcp-go -->
//
// a line for each number of callers and bytes.
func (r *rivals) adapterTable(rival string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\n| | %s's own transport | this one | calls a second |\n|---|---|---|---|", r.heading(), rival)
	found := false
	for _, row := range r.Rows {
		if row.Scenario != "adapters" {
			continue
		}
		var own, ours []map[string]float64
		for _, e := range row.Entries {
			switch e.Peer {
			case rival:
				own = e.Rounds
			case rival + "+correlator":
				ours = e.Rounds
			}
		}
		if len(own) == 0 || len(ours) == 0 {
			continue
		}
		found = true
		fmt.Fprintf(&b, "\n| %d callers, %d bytes | %s | %s | %.1f × |", row.Callers, row.Bytes, adapterCell(own), adapterCell(ours),
			middle(ours, "calls/s")/middle(own, "calls/s"))
	}
	if !found {
		return "", fmt.Errorf("no client of %q over two transports", rival)
	}
	return b.String(), nil
}

// adapterCell is what a call costs, in short.
func adapterCell(rounds []map[string]float64) string {
	return fmt.Sprintf("%s thousand/s, p50 %s ms, %s µs of CPU, %.0f allocations, %s KB",
		cell(middle(rounds, "calls/s")/1e3), cell(middle(rounds, "p50")/1e6), cell(middle(rounds, "cpu")/1e3),
		middle(rounds, "allocs"), cell(middle(rounds, "bytes")/1e3))
}
