package prom_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/prom"
	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/tally"
)

const ms = time.Millisecond

var sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)+\})? (\S+)$`)

// scrape reads the text format: every line is a comment or a sample, every sample
// has a type and a help, and the samples of a family stand together.
func scrape(t *testing.T, e *prom.Exporter) map[string]float64 {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, e.Write(&b))
	out, types, last, helped := map[string]float64{}, map[string]string{}, "", ""
	for lines := bufio.NewScanner(&b); lines.Scan(); {
		line := lines.Text()
		if f := strings.Fields(line); f[0] == "#" {
			switch f[1] {
			case "HELP":
				require.Greater(t, len(f), 3, line)
				helped = f[2]
			case "TYPE":
				require.Equal(t, helped, f[2], "its help stands before it")
				require.NotContains(t, types, f[2], "a type stands once")
				types[f[2]], last = f[3], f[2]
			}
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		require.NotNil(t, m, line)
		family := m[1]
		if types[last] == "histogram" {
			family = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(family, "_bucket"), "_sum"), "_count")
		}
		require.Equal(t, last, family, "under its type")
		if types[last] == "counter" {
			require.True(t, strings.HasSuffix(family, "_total"), line)
		}
		v, err := strconv.ParseFloat(m[3], 64)
		require.NoError(t, err, line)
		require.NotContains(t, out, m[1]+m[2])
		out[m[1]+m[2]] = v
	}
	return out
}

// tallied is a tally of which every interval is kept.
func tallied() *tally.Tally {
	y := tally.New(1)
	y.KeepHistograms()
	return y
}

func TestScrape(t *testing.T) {
	live := report.NewLive(report.Config{Method: "tools/call", Target: "exec:server --stdio", MCP: "2026-07-28", Loop: "open"}, "")
	e := prom.NewExporter(live)
	const base = `mcp_method_name="tools/call",network_transport="pipe",mcp_protocol_version="2026-07-28"`
	const name = "mcp_client_operation_duration_seconds"
	first := scrape(t, e)
	require.Zero(t, first[name+"_count{"+base+"}"])
	require.EqualValues(t, 1, first["loadgen_running"])

	y := tallied()
	for i := range 100 {
		took := time.Duration(i+1) * ms / 2
		y.Shard(0).Record(tally.Sample{Sent: 100 * ms, Done: 100*ms + took})
	}
	y.Shard(0).Record(tally.Sample{Kind: tally.TimedOut, Done: 400 * time.Second}, tally.Sample{Kind: tally.Lost}, tally.Sample{Kind: tally.OK, Warm: true})
	live.Row(y.Rotate(time.Second, tally.Gauges{Sent: 110, Behind: 4, Dropped: 2, InFlight: 7}, false))
	got := scrape(t, e)
	for le, want := range map[string]float64{"0.01": 20, "0.02": 40, "0.05": 100, "300": 100, "+Inf": 101} {
		require.InDelta(t, want, got[fmt.Sprintf(`%s_bucket{%s,le="%s"}`, name, base, le)], 1, le)
	}
	require.EqualValues(t, 101, got[name+"_count{"+base+"}"], "answered and timed out, after the warm-up")
	require.InEpsilon(t, 402.5, got[name+"_sum{"+base+"}"], 0.01)
	require.Zero(t, got[`loadgen_response_duration_seconds_bucket{`+base+`,le="0.05"}`], "counted from when they were due")
	require.EqualValues(t, 101, got[`loadgen_response_duration_seconds_count{`+base+`}`])
	for series, want := range map[string]float64{
		`loadgen_calls_total{` + base + `,outcome="ok"}`: 101, `loadgen_calls_total{` + base + `,outcome="timeout"}`: 1,
		`loadgen_calls_total{` + base + `,outcome="lost"}`: 1, `loadgen_calls_total{` + base + `,outcome="error"}`: 0,
		`loadgen_sent_total{` + base + `}`: 110, `loadgen_behind_total{` + base + `}`: 4, `loadgen_dropped_total{` + base + `}`: 2,
		`loadgen_in_flight{` + base + `}`: 7, `loadgen_rate_factor`: 1, `loadgen_paused`: 0,
	} {
		require.Contains(t, got, series)
		require.Equal(t, want, got[series], series)
	}
	require.Len(t, buckets(got, name), 15, "the boundaries of the conventions, and infinity")
	require.Equal(t, got, scrape(t, e), "a scrape counts nothing twice")

	live.Event(drive.Event{Text: "paused", Steering: drive.Steering{Paused: true, Factor: 1.1}})
	y.Shard(0).Record(tally.Sample{Done: 1 * ms})
	live.Row(y.Rotate(2*time.Second, tally.Gauges{Sent: 111, InFlight: 1}, false))
	got = scrape(t, e)
	require.EqualValues(t, 102, got[`loadgen_calls_total{`+base+`,outcome="ok"}`])
	require.EqualValues(t, 1, got[`loadgen_in_flight{`+base+`}`])
	require.EqualValues(t, 1.1, got["loadgen_rate_factor"])
	require.EqualValues(t, 1, got["loadgen_paused"])
	live.End(&report.Document{})
	require.Zero(t, scrape(t, e)["loadgen_running"])
}

func buckets(got map[string]float64, name string) (out []string) {
	for series := range got {
		if strings.HasPrefix(series, name+"_bucket{") {
			out = append(out, series)
		}
	}
	return out
}

// Buckets only grow with their bound.
func TestBucketsAreCumulative(t *testing.T) {
	live := report.NewLive(report.Config{Target: "tcp:127.0.0.1:1"}, "")
	e := prom.NewExporter(live)
	y := tallied()
	for i := range 10_000 {
		y.Shard(0).Record(tally.Sample{Done: time.Duration(i*i) * time.Microsecond})
	}
	live.Row(y.Rotate(time.Second, tally.Gauges{}, false))
	got := scrape(t, e)
	for _, name := range []string{"mcp_client_operation_duration_seconds", "loadgen_response_duration_seconds"} {
		last := 0.0
		for _, le := range []string{"0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10", "30", "60", "+Inf"} {
			v := got[name+`_bucket{mcp_method_name="",network_transport="tcp",le="`+le+`"}`]
			require.Greater(t, v, last, le)
			last = v
		}
		require.EqualValues(t, 10_000, last)
	}
}

func TestHostileLabels(t *testing.T) {
	live := report.NewLive(report.Config{Method: "a\"b\\c\nd\xff} 7", Target: "unix:/tmp/\"x\\"}, "")
	got := scrape(t, prom.NewExporter(live))
	require.Contains(t, got, `loadgen_sent_total{mcp_method_name="a\"b\\c\nd`+"\uFFFD"+`} 7",network_transport="unix"}`)
}

var errGone = errors.New("gone")

type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, errGone }

func TestWriteTellsOfTheWriter(t *testing.T) {
	require.ErrorIs(t, prom.NewExporter(report.NewLive(report.Config{}, "")).Write(gone{}), errGone)
}
