package report_test

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/tally"
)

// began has milliseconds: a log whose times were cut to seconds would be off.
var began = time.Date(2026, 11, 30, 12, 0, 0, int(250*ms), time.UTC)

// seconds is a run with a warm-up of one second, three seconds that end a little
// late, as they do, and nothing in the second of them.
func seconds() ([]tally.Row, tally.Total) {
	y := tally.New(1)
	y.KeepHistograms()
	rows := []tally.Row{y.Rotate(1000*ms, tally.Gauges{}, true)}
	for i, calls := range []int{1000, 0, 500} {
		for n := range calls {
			due := time.Duration(n) * ms
			y.Shard(0).Record(tally.Sample{Planned: due, Sent: due + ms, Done: due + ms + time.Duration(n*n)*time.Microsecond})
		}
		rows = append(rows, y.Rotate(time.Duration(i+2)*1001*ms, tally.Gauges{}, false))
	}
	return rows, y.Total()
}

// What HdrHistogram's reader finds in a log is what was measured, and when.
func TestLogRoundTrip(t *testing.T) {
	rows, total := seconds()
	var out bytes.Buffer
	require.NoError(t, report.WriteLog(&out, began, rows))
	reader := hdr.NewHistogramLogReader(&out)
	response, service := tally.NewHistogram(), tally.NewHistogram()
	for _, row := range rows[1:] {
		require.Empty(t, row.Kept.Service.Tag(), "the rows are not written to")
		require.Zero(t, row.Kept.Response.StartTimeMs())
		for _, line := range []struct {
			tag string
			sum *hdr.Histogram
			tally.Summary
		}{{"", response, row.Response}, {report.ServiceTag, service, row.Service}} {
			h, err := reader.NextIntervalHistogram()
			require.NoError(t, err)
			require.NotNil(t, h)
			require.Equal(t, line.tag, h.Tag())
			require.Equal(t, line.Summary, tally.Summarize(h))
			require.InDelta(t, began.UnixMilli()+int64(row.Start*1000), h.StartTimeMs(), 1)
			require.InDelta(t, began.UnixMilli()+int64((row.Start+row.Length)*1000), h.EndTimeMs(), 1)
			require.Zero(t, line.sum.Merge(h))
		}
	}
	last, err := reader.NextIntervalHistogram()
	require.NoError(t, err)
	require.Nil(t, last)
	require.True(t, response.Equals(total.Response))
	require.True(t, service.Equals(total.Service))
}

// The lines are those of HdrHistogram's other implementations.
func TestLogFormat(t *testing.T) {
	rows, _ := seconds()
	var out bytes.Buffer
	require.NoError(t, report.WriteLog(&out, began, rows))
	for i, want := range []string{
		`#\[Logged with correlator loadgen .*\]`,
		`#\[Histogram log format version 1\.3\]`,
		`#\[Nanoseconds; .*\]`,
		`#\[StartTime: 1796040000\.250 \(seconds since epoch\), 2026-11-30T12:00:00Z\]`,
		`#\[BaseTime: 1796040000\.250 \(seconds since epoch\)\]`,
		`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`,
		`1\.000000,1\.002000,999\.\d+,HISTFAAA\S+`, // the last call took 998.001 ms, and waited one
		`Tag=service,1\.000000,1\.002000,998\.\d+,HISTFAAA\S+`,
		`2\.002000,1\.001000,0\.000000,HISTFAAA\S+`, // silence of the peer is data
	} {
		require.Regexp(t, "^"+want+"$", strings.Split(out.String(), "\n")[i])
	}
}

// A run that kept nothing gives a log without lines, and no failure.
func TestLogOfNothing(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, report.WriteLog(&out, began, []tally.Row{{Length: 1}}))
	h, err := hdr.NewHistogramLogReader(&out).NextIntervalHistogram()
	require.NoError(t, err)
	require.Nil(t, h)
	require.ErrorIs(t, report.WriteLog(broken{}, began, nil), os.ErrClosed)
}

// HdrHistogram's plotter takes lines of four columns that are not comments, the
// first as the value and the last, 1/(1-percentile), as the axis of nines.
func TestPercentileText(t *testing.T) {
	y := tally.New(1)
	const calls = 300_000
	for n := range calls { // of which one in x takes x ms or more: the plot is a diagonal
		y.Shard(0).Record(tally.Sample{Done: ms * calls / time.Duration(calls-n)})
	}
	y.Rotate(time.Second, tally.Gauges{}, false)
	var out bytes.Buffer
	require.NoError(t, report.WritePercentiles(&out, y.Total().Response))
	var points, nines int
	before := 0.0
	for line := range strings.Lines(out.String()) {
		columns := strings.Fields(line)
		if strings.HasPrefix(line, "#") || len(columns) != 4 || columns[0] == "Value" {
			continue
		}
		value, err := strconv.ParseFloat(columns[0], 64)
		require.NoError(t, err)
		require.GreaterOrEqual(t, value, before)
		before = value
		if columns[3] == "inf" { // the maximum, for which the axis has no place
			continue
		}
		axis, err := strconv.ParseFloat(columns[3], 64)
		require.NoError(t, err)
		if axis <= 10_000 { // beyond, single calls are steps
			require.InEpsilon(t, axis, value, 0.05, line)
		}
		points++
		if axis >= 100_000 {
			nines++
		}
	}
	require.Greater(t, points, 50)
	require.Positive(t, nines, "five nines")
	require.InEpsilon(t, calls, before, 0.001, "milliseconds")
	require.Contains(t, out.String(), "#[Mean")
}
