package drive_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/invariants"
	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/plan"
)

// timed runs c against a plain echo server, in real time.
func timed(tb testing.TB, c drive.Config) *drive.Result {
	client, server := echo.Pipe()
	go func() { _ = echo.Serve(server, echo.Options{}) }()
	link, err := conn.New(client, conn.Options{Overflow: engine.OverflowWait})
	require.NoError(tb, err)
	defer link.Close()
	r, err := drive.Run(tb.Context(), []*conn.Conn{link}, c)
	require.NoError(tb, err)
	require.Empty(tb, drive.Audit(r, nil, false))
	return r
}

// The generator and the engine together allocate nothing per call in steady
// state; what a run allocates once is shared by its calls.
func TestCallbacksAllocateNothingPerCall(t *testing.T) {
	if invariants.Race || invariants.Enabled {
		t.Log("allocation gates hold for the plain build")
		return
	}
	r := timed(t, drive.Config{Requests: 200_000, InFlight: 256, Method: "echo", Payload: plan.NewPayload(100, 100, 1), Sleep: drive.PreciseSleep})
	require.EqualValues(t, 200_000, r.Ends().OK)
	require.Less(t, r.Cost.PerCall(float64(r.Cost.Allocs)), 0.1)
	require.Positive(t, r.Cost.Writes)
	require.Less(t, r.Cost.PerCall(float64(r.Cost.Writes)), 0.5)
}

func TestPreciseSleepIsNeverEarly(t *testing.T) {
	for _, d := range []time.Duration{0, -1, 200 * time.Microsecond} {
		began := time.Now()
		drive.PreciseSleep(d)
		require.GreaterOrEqual(t, time.Since(began), d)
	}
}

// BenchmarkClosedLoop is one call through the generator, the connection, the
// pipe and the echo server.
func BenchmarkClosedLoop(b *testing.B) {
	for _, mode := range []drive.Mode{drive.Batch, drive.Callback, drive.Blocking} {
		for _, size := range []int{100, 4096} {
			b.Run(fmt.Sprintf("%v/size=%d", mode, size), func(b *testing.B) {
				b.ReportAllocs()
				timed(b, drive.Config{Mode: mode, Requests: int64(b.N), InFlight: 1024, Method: "echo", Payload: plan.NewPayload(size, size, 1)})
			})
		}
	}
}
