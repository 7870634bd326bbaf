package page_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/page"
	"github.com/correlator-go/correlator/internal/load/report"
)

func TestLivePageGrowsIntoTheReport(t *testing.T) {
	rows, _ := fast.rows()
	d := fast.document(t)
	source := report.NewLive(d.Config, d.Began)
	live := page.NewLive(source)
	frame := func() page.Frame {
		f, err := live.Frame()
		require.NoError(t, err)
		return f
	}
	f := frame()
	require.Equal(t, "Starting", f.State)
	has(t, f.HTML, "Nothing yet")
	require.True(t, f.Open)

	source.Row(rows[0])
	require.Equal(t, "Warming up", frame().State)
	for _, row := range rows[1:6] {
		source.Row(row)
	}
	f = frame()
	require.Equal(t, "Running", f.State)
	require.Contains(t, f.Detail, "answered in the last interval")
	require.Len(t, lineOf.FindAllString(figureOf(t, f.HTML, "percentiles"), -1), 2)
	has(t, figureOf(t, f.HTML, "heat-a"), `class="h7"`)
	hasNot(t, f.HTML, "<script")
	require.True(t, f.HTML == frame().HTML, "nothing came")

	source.Event(drive.Event{At: 5, Text: "paused", Steering: drive.Steering{Paused: true, Factor: 1.1}})
	f = frame()
	require.Equal(t, "Paused", f.State)
	require.True(t, f.Paused)
	require.Contains(t, f.Detail, "× 1.1")
	has(t, f.HTML, "5\u00a0s: paused")
	has(t, figureOf(t, f.HTML, "rate"), `class="mark"`)

	source.Event(drive.Event{At: 6, Text: "stopped", Steering: drive.Steering{Stopped: true, Factor: 1.1}})
	f = frame()
	require.Equal(t, "Stopping", f.State)
	require.True(t, f.Stopping)

	var b bytes.Buffer
	require.NoError(t, live.Page(&b))
	has(t, b.String(), `id="pause"`)
	require.Equal(t, 2, strings.Count(b.String(), "<script>"))

	source.End(d)
	f = frame()
	require.True(t, f.Over)
	require.Equal(t, "Ended", f.State)
	require.Contains(t, write(t, page.Run{Name: "run", Doc: d}), strings.TrimSpace(f.HTML), "the same as the file")
	d.Error = "the peer is gone"
	source.End(d)
	require.Equal(t, "Ended", frame().State, "it ended once")
}
