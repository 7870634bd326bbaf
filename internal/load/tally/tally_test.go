package tally_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/invariants"
	"github.com/correlator-go/correlator/internal/load/tally"
)

const ms = time.Millisecond

func TestTallySeparatesBothLatencies(t *testing.T) {
	y := tally.New(2)
	for i := range 100 {
		at := time.Duration(i) * ms
		y.Shard(i).Record(tally.Sample{Planned: at, Sent: at + 10*ms, Done: at + 12*ms})
	}
	row := y.Rotate(time.Second, tally.Gauges{Sent: 100, InFlight: 3}, false)
	require.EqualValues(t, 100, row.Ends.OK)
	require.EqualValues(t, 100, row.Sent)
	require.Equal(t, 3, row.InFlight)
	require.InEpsilon(t, 12*ms, row.Response.P50, 0.001)
	require.InEpsilon(t, 2*ms, row.Service.P50, 0.001)
	require.InDelta(t, 100, row.Rate(), 1e-9)

	empty := y.Rotate(2*time.Second, tally.Gauges{Sent: 100}, false)
	require.Equal(t, tally.Row{Start: 1, Length: 1}, empty)
	require.EqualValues(t, 100, y.Total().Response.TotalCount(), "the total keeps what intervals let go")
}

func TestTallyKindsAndWarmUp(t *testing.T) {
	y := tally.New(1)
	s := y.Shard(7)
	s.Record(
		tally.Sample{Done: ms, Kind: tally.OK},
		tally.Sample{Done: ms, Kind: tally.Rejected},
		tally.Sample{Done: ms, Kind: tally.TimedOut},
		tally.Sample{Done: ms, Kind: tally.Cancelled},
		tally.Sample{Done: ms, Kind: tally.Lost},
		tally.Sample{Done: ms, Kind: tally.OK, Warm: true},
	)
	row := y.Rotate(time.Second, tally.Gauges{}, true)
	require.EqualValues(t, 6, row.Ends.Sum())
	total := y.Total()
	require.Equal(t, tally.Ends{OK: 1, Error: 1, Timeout: 1, Cancelled: 1, Lost: 1}, total.Measured)
	require.Equal(t, tally.Ends{OK: 1}, total.Warm)
	require.EqualValues(t, 3, total.Response.TotalCount(), "answered and timed out")
}

func TestTallyClamps(t *testing.T) {
	y := tally.New(1)
	y.Shard(0).Record(tally.Sample{Planned: 5, Sent: 9, Done: 3}, tally.Sample{Done: 99 * time.Hour})
	y.Rotate(time.Second, tally.Gauges{}, false)
	total := y.Total()
	require.EqualValues(t, 2, total.Response.TotalCount())
	require.EqualValues(t, 0, total.Response.Min())
	require.InEpsilon(t, time.Hour, total.Response.Max(), 0.001)
}

// Every sample is in exactly one interval, whoever rotates meanwhile.
func TestTallyConcurrently(t *testing.T) {
	y := tally.New(4)
	const workers, each = 4, 20_000
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				y.Shard(w).Record(tally.Sample{Done: time.Duration(i)})
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	var sum int64
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		sum += y.Rotate(time.Second, tally.Gauges{}, false).Ends.Sum()
	}
	require.EqualValues(t, workers*each, sum)
	require.EqualValues(t, workers*each, y.Total().Service.TotalCount())
}

// Kept histograms are the interval's own: what comes later does not change them,
// and they sum up to the total.
func TestTallyKeepsHistograms(t *testing.T) {
	y := tally.New(2)
	y.KeepHistograms()
	var rows []tally.Row
	for second := range 5 {
		for i := range 100 * second { // none in the first
			d := time.Duration(i*i*(second+1)) * time.Microsecond
			y.Shard(i).Record(tally.Sample{Planned: 0, Sent: d / 3, Done: d})
		}
		rows = append(rows, y.Rotate(time.Duration(second+1)*time.Second, tally.Gauges{}, false))
	}
	response, service := tally.NewHistogram(), tally.NewHistogram()
	for second, row := range rows {
		require.EqualValues(t, 100*second, row.Kept.Response.TotalCount())
		require.Equal(t, row.Response.Count, row.Kept.Response.TotalCount())
		require.Equal(t, row.Response.Max, row.Kept.Response.Max())
		require.Equal(t, row.Service.P99, row.Kept.Service.ValueAtPercentile(99))
		require.Zero(t, row.Kept.Response.MergeInto(response))
		require.Zero(t, row.Kept.Service.MergeInto(service))
	}
	require.True(t, response.Equals(y.Total().Response))
	require.True(t, service.Equals(y.Total().Service))
}

// The parts of the load sum up to the whole.
func TestTallySplits(t *testing.T) {
	y := tally.New(2)
	require.Nil(t, y.Connections())
	y.Split(3, 2)
	for i := range 600 {
		y.Shard(i).Record(tally.Sample{Done: time.Duration(i%3+1) * ms, Conn: uint16(i % 3), Entry: uint16(i % 2), Kind: tally.Kind(i % 5), Warm: i < 30})
	}
	y.Rotate(time.Second, tally.Gauges{}, false)
	for _, parts := range [][]tally.Part{y.Connections(), y.Entries()} {
		var sum tally.Ends
		var timed int64
		for _, p := range parts {
			sum, timed = sum.Add(p.Ends), timed+p.Response.Count
		}
		require.Equal(t, y.Total().Measured, sum)
		require.Equal(t, y.Total().Response.TotalCount(), timed)
	}
	for i, p := range y.Connections() {
		require.InEpsilon(t, time.Duration(i+1)*ms, p.Response.P99, 0.01, "two digits")
	}
	y.Split(1, 1)
	require.Nil(t, y.Connections())
	require.Nil(t, y.Entries())
}

// Late answers are those of the interval.
func TestTallyTakesDifferencesOfGauges(t *testing.T) {
	y := tally.New(1)
	first := y.Rotate(time.Second, tally.Gauges{Sent: 10, Behind: 3, Dropped: 2, Late: 4, InFlight: 5}, false)
	second := y.Rotate(2*time.Second, tally.Gauges{Sent: 30, Behind: 3, Dropped: 3, Late: 9, InFlight: 1}, false)
	require.Equal(t, []int64{10, 3, 2, 4}, []int64{first.Sent, first.Behind, first.Dropped, first.Late})
	require.Equal(t, []int64{20, 0, 1, 5}, []int64{second.Sent, second.Behind, second.Dropped, second.Late})
	require.Equal(t, 1, second.InFlight)
}

func TestRecordAllocatesNothing(t *testing.T) {
	if invariants.Race {
		t.Log("allocation gates hold for the plain build")
		return
	}
	s := tally.New(1).Shard(0)
	require.Zero(t, testing.AllocsPerRun(100, func() { s.Record(tally.Sample{Done: ms}, tally.Sample{Done: 2 * ms}) }))
}

func BenchmarkRecord(b *testing.B) {
	s := tally.New(1).Shard(0)
	batch := make([]tally.Sample, 64)
	for i := range batch {
		batch[i].Done = time.Duration(i) * 10 * time.Microsecond
	}
	b.ReportAllocs()
	for n := 0; n < b.N; n += len(batch) {
		s.Record(batch...)
	}
}
