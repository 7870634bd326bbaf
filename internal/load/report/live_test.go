package report_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/report"
)

// What a live run shows grows with its rows, and becomes the document at the end.
func TestLive(t *testing.T) {
	c, r, server := open()
	rows, total := seconds()
	l := report.NewLive(c, "2026-11-30T12:00:00Z")
	first := l.Document()
	require.True(t, first.Running)
	require.Empty(t, first.Intervals)
	require.Equal(t, drive.Steering{Factor: 1}, first.Steering)

	changed := l.Changed()
	select {
	case <-changed:
		require.Fail(t, "nothing has happened")
	default:
	}
	rows[1].Sent, rows[1].Late, rows[1].InFlight = 1000, 2, 7
	for _, row := range rows {
		l.Row(row)
	}
	<-changed
	d := l.Document()
	require.Len(t, d.Intervals, len(rows))
	require.Len(t, l.Rows(), len(rows))
	require.EqualValues(t, 1500, d.Counts.Ends.OK)
	require.EqualValues(t, 1000, d.Counts.Sent)
	require.EqualValues(t, 2, d.Counts.Late)
	require.Equal(t, total.Response.TotalCount(), d.Latency.Response.Count)
	require.Equal(t, total.Response.ValueAtPercentile(99), d.Latency.Response.P99)
	require.InDelta(t, 1500/d.Rates.Seconds, d.Rates.Answered, 1e-6)
	require.Empty(t, first.Intervals, "a snapshot does not change")

	changed = l.Changed()
	l.Event(drive.Event{At: 1, Text: "paused", Steering: drive.Steering{Paused: true, Factor: 1}})
	<-changed
	require.True(t, l.Document().Steering.Paused)
	require.Len(t, l.Document().Events, 1)

	finished, err := report.Build(c, r, server, nil, nil)
	require.NoError(t, err)
	changed = l.Changed()
	l.End(finished)
	<-changed
	l.Row(rows[1])
	l.Event(drive.Event{})
	require.Equal(t, *finished, l.Document())
	require.False(t, l.Document().Running)
}
