package status_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/status"
	"github.com/correlator-go/correlator/internal/invariants"
)

// Watching a call allocates nothing, so that a gateway that is watched keeps its budget.
func TestObserveAllocates(t *testing.T) {
	if invariants.Race || invariants.Enabled {
		t.Skip("the race detector and invariants allocate")
	}
	b, err := status.New(status.Options{})
	require.NoError(t, err)
	e := gateway.Event{Kind: gateway.CallEnded, Upstream: "u", Method: "tools/call", Tool: "echo", Outcome: gateway.Answered, Waited: time.Microsecond, Took: time.Millisecond, Sent: true}
	b.Observe(e)
	require.Zero(t, testing.AllocsPerRun(1000, func() { b.Observe(e) }))
}

func BenchmarkObserve(b *testing.B) {
	board, err := status.New(status.Options{})
	require.NoError(b, err)
	e := gateway.Event{Kind: gateway.CallEnded, Upstream: "u", Method: "tools/call", Tool: "echo", Outcome: gateway.Answered, Took: time.Millisecond, Sent: true}
	b.ReportAllocs()
	for b.Loop() {
		board.Observe(e)
	}
}
