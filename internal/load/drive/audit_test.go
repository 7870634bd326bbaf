package drive_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// sound is a result and a server that agree.
func sound() (*drive.Result, *echo.Counts) {
	r := &drive.Result{Planned: 11, Sent: 10, Dropped: 1, Total: tally.Total{
		Measured: tally.Ends{OK: 6, Error: 1, Timeout: 2}, Warm: tally.Ends{OK: 1},
	}}
	r.Stats.Calls.Registered, r.Stats.Calls.Resolved, r.Stats.Calls.Rejected, r.Stats.Calls.Expired, r.Stats.Calls.Late = 10, 7, 1, 2, 1
	r.Stats.CancelsOut, r.Stats.ProgressDelivered = 2, 5
	return r, &echo.Counts{Requests: 10, Answers: 9, Cancels: 2, Progress: 5}
}

func TestAuditFindsEachContradiction(t *testing.T) {
	r, server := sound()
	require.Empty(t, drive.Audit(r, server, false))
	require.Empty(t, drive.Audit(r, nil, false))
	for name, spoil := range map[string]func(*drive.Result, *echo.Counts){
		"a call without an end":   func(r *drive.Result, _ *echo.Counts) { r.Total.Measured.OK-- },
		"in flight":               func(r *drive.Result, _ *echo.Counts) { r.InFlight = 1 },
		"planned":                 func(r *drive.Result, _ *echo.Counts) { r.Planned++ },
		"registered":              func(r *drive.Result, _ *echo.Counts) { r.Stats.Calls.Registered++ },
		"resolved":                func(r *drive.Result, _ *echo.Counts) { r.Stats.Calls.Resolved++ },
		"expired":                 func(r *drive.Result, _ *echo.Counts) { r.Stats.Calls.Expired-- },
		"failed":                  func(r *drive.Result, _ *echo.Counts) { r.Stats.Calls.Failed++ },
		"pending":                 func(r *drive.Result, _ *echo.Counts) { r.Stats.Calls.Pending = 1 },
		"the server's requests":   func(_ *drive.Result, s *echo.Counts) { s.Requests-- },
		"a request never written": func(r *drive.Result, _ *echo.Counts) { r.Unsent++ },
		"a request left out":      func(r *drive.Result, _ *echo.Counts) { r.Stats.Skipped++ },
		"the server's answers":    func(_ *drive.Result, s *echo.Counts) { s.Answers++ },
		"an answer nobody gave":   func(r *drive.Result, _ *echo.Counts) { r.Stats.Calls.Unknown++ },
		"progress":                func(r *drive.Result, _ *echo.Counts) { r.Stats.ProgressLate++ },
		"cancels":                 func(_ *drive.Result, s *echo.Counts) { s.Cancels = 0 },
	} {
		r, server := sound()
		spoil(r, server)
		require.NotEmpty(t, drive.Audit(r, server, false), name)
	}
}

func TestAuditOfABrokenConnection(t *testing.T) {
	r, server := sound()
	server.Requests, server.Answers, r.Stats.Calls.Late = 8, 9, 0
	require.Empty(t, drive.Audit(r, server, true), "frames on their way are nobody's fault")
	server.Requests = 11
	require.Len(t, drive.Audit(r, server, true), 1)
	server.Answers = 7
	require.Len(t, drive.Audit(r, server, true), 2)
}
