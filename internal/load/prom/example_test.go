package prom_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/correlator-go/correlator/internal/load/prom"
	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/tally"
)

func ExampleExporter() {
	live := report.NewLive(report.Config{Method: "tools/list", Target: "tcp:127.0.0.1:7000"}, "")
	exporter := prom.NewExporter(live)
	live.Row(tally.Row{Length: 1, Sent: 12, InFlight: 2, Ends: tally.Ends{OK: 9, Timeout: 1}})
	var text bytes.Buffer
	if err := exporter.Write(&text); err != nil {
		fmt.Println(err)
	}
	for line := range strings.Lines(text.String()) {
		if strings.HasPrefix(line, "loadgen_in_flight") || strings.Contains(line, "timeout") {
			fmt.Print(line)
		}
	}
	// Output:
	// loadgen_calls_total{mcp_method_name="tools/list",network_transport="tcp",outcome="timeout"} 1
	// loadgen_in_flight{mcp_method_name="tools/list",network_transport="tcp"} 2
}
