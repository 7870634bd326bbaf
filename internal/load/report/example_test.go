package report_test

import (
	"os"

	"github.com/correlator-go/correlator/internal/load/report"
)

func ExampleHeading() {
	_ = report.Heading(os.Stdout, report.Config{
		Target: "unix:/run/echo.sock", Loop: "open", Schedule: "10s:5000/s", Mode: "batch", InFlight: 1024,
		Method: "echo", Payload: "with 100 B of params", Timeout: 1e9, Seed: 1,
	})
	// Output:
	// loadgen      unix:/run/echo.sock; open loop 10s:5000/s; at most 1,024 in flight; callbacks, submitted in batches; echo with 100 B of params; timeout 1s, seed 1
}
