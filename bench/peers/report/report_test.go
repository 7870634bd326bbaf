package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/bench/peers/load"
	"github.com/correlator-go/correlator/bench/peers/peer"
	"github.com/correlator-go/correlator/bench/peers/report"
	"github.com/correlator-go/correlator/bench/peers/wire"
)

// entry has one figure of one column, a value a round.
func entry(name string, class peer.Class, column string, values ...float64) *report.Entry {
	e := &report.Entry{Peer: name, Class: class}
	for _, v := range values {
		e.Rounds = append(e.Rounds, load.Figures{column: v})
	}
	return e
}

func closed(callers, bytes int, entries ...*report.Entry) *report.Row {
	return &report.Row{Scenario: report.Closed, Transport: "unix", Callers: callers, Bytes: bytes, Entries: entries}
}

func TestMedianAndRatio(t *testing.T) {
	row := closed(64, 100,
		entry("a", peer.Ours, load.Rate, 10, 40, 20), entry("b", peer.JSON, load.Rate, 10, 20, 20),
		&report.Entry{Peer: "c", Class: peer.JSON, Failed: "deadlock", Rounds: []load.Figures{{load.Rate: 99}}})
	m, ok := row.Entry("a").Median(load.Rate)
	require.True(t, ok)
	require.Equal(t, 20.0, m)
	_, ok = row.Entry("a").Median(load.CPU)
	require.False(t, ok)
	_, ok = row.Entry("c").Median(load.Rate)
	require.False(t, ok, "who failed has no figures")

	ratio, ok := row.Ratio(load.Rate, "a", "b")
	require.True(t, ok)
	require.Equal(t, 1.0, ratio.Median, "of the ratios within rounds")
	// ln 1, ln 2, ln 1: mean .231, standard error .231, t = 4.303.
	require.InDelta(t, 0.466, ratio.Low, 0.001)
	require.InDelta(t, 3.405, ratio.High, 0.005)
	_, ok = row.Ratio(load.Rate, "a", "c")
	require.False(t, ok)
	_, ok = row.Ratio(load.Rate, "a", "nobody")
	require.False(t, ok)

	require.Equal(t, "b", row.Of(peer.JSON, load.Rate)[0].Peer)
	require.Zero(t, entry("x", peer.JSON, load.Rate, 5).Spread(load.Rate))
	require.InDelta(t, 4.303*1/1.732/10, entry("x", peer.JSON, load.Rate, 9, 10, 11).Spread(load.Rate), 0.01)
}

// results lists what became of each demand, by what is demanded.
func results(rows ...*report.Row) map[string]report.Result {
	out := map[string]report.Result{}
	for _, v := range report.Judge(&report.Report{Rows: rows}) {
		out[v.Demand] = v.Result
	}
	return out
}

func TestFirstAmongJSONRPC(t *testing.T) {
	ours := func(v ...float64) *report.Entry { return entry(peer.Blocking, peer.Ours, load.Rate, v...) }
	others := []*report.Entry{entry("slow", peer.JSON, load.Rate, 1, 1, 1), entry("fast", peer.JSON, load.Rate, 100, 101, 99), entry("another", peer.Other, load.Rate, 900, 900, 900)}
	at := func(e *report.Entry) report.Result {
		return results(closed(64, 100, append(others, e)...))["first by calls/s"]
	}
	require.Equal(t, report.Met, at(ours(110, 111, 109)))
	require.Equal(t, report.Tie, at(ours(99, 130, 90)), "the interval holds 1")
	require.Equal(t, report.Short, at(ours(50, 51, 49)))
	require.Equal(t, report.Unknown, at(&report.Entry{Peer: peer.Blocking, Class: peer.Ours, Failed: "broken"}))

	adapted := entry(peer.MCPGoAdapted, peer.Adapted, load.Rate, 500, 500, 500)
	require.Equal(t, report.Met, results(closed(64, 100, append(others, ours(110, 111, 109), adapted)...))["first by calls/s"], "a transport of ours is no rival")

	cpu := results(closed(64, 100, entry(peer.Blocking, peer.Ours, load.CPU, 10, 10, 10), entry("lean", peer.JSON, load.CPU, 5, 5, 5)))
	require.Equal(t, report.Short, cpu["first by cpu"], "less is better")
	require.NotContains(t, results(closed(1, 100, ours(1), entry("x", peer.JSON, load.Rate, 1))), "first by cpu")
}

func TestFactors(t *testing.T) {
	row := closed(1024, 100, entry(peer.Blocking, peer.Ours, load.Rate, 150), entry("next", peer.JSON, load.Rate, 100), entry(peer.MCPGo, peer.JSON, load.Rate, 13),
		entry(peer.GRPC, peer.Other, load.Rate, 10))
	got := results(row)
	require.Equal(t, report.Met, got["calls/s ≥ 1.5× the next, next"])
	require.Equal(t, report.Short, got["calls/s ≥ 12× mcp-go"])
	require.Equal(t, report.Met, got["calls/s ≥ 15× grpc"])
	require.Equal(t, report.Unknown, got["calls/s ≥ 45× go-sdk"])
	require.Equal(t, report.Short, results(closed(1024, 4096, entry(peer.Blocking, peer.Ours, load.Rate, 1), entry(peer.Rueidis, peer.Other, load.Rate, 1)))["calls/s ≥ 1.5× rueidis"])
	require.Equal(t, report.Met, results(closed(1024, 4096, entry(peer.Blocking, peer.Ours, load.Rate, 1), entry(peer.Into, peer.Ours, load.Rate, 3), entry(peer.Rueidis, peer.Other, load.Rate, 2)))["calls/s ≥ 1.5× rueidis"], "the better of those that wait counts")
	require.Equal(t, report.Short, results(closed(1024, 4096, entry(peer.Blocking, peer.Ours, load.Rate, 1), entry(peer.Callbacks, peer.Ours, load.Rate, 9), entry(peer.Rueidis, peer.Other, load.Rate, 2)))["calls/s ≥ 1.5× rueidis"])
}

// A report says what it lacks of its plan, and which of ours has no figures.
func TestHolesAreTold(t *testing.T) {
	r := report.New(time.Unix(1e9, 0), report.Quick)
	for want := range report.ClosedRows(report.Quick) {
		if want.Transport != report.TCP || want.Callers != 64 {
			r.Rows = append(r.Rows, closed(want.Callers, want.Bytes))
			r.Rows[len(r.Rows)-1].Transport = want.Transport
		}
	}
	r.Rows[0].Entries = []*report.Entry{{Peer: peer.Callbacks, Class: peer.Ours, Failed: "no room"}, {Peer: peer.GoSDK, Class: peer.JSON, Failed: "too slow"}}
	require.Equal(t, []report.Verdict{
		{Row: "tcp, 64 callers, 100 bytes", Demand: `a row of the plan "quick"`, Got: "not measured", Result: report.Unknown},
		{Row: "tcp, 64 callers, 4096 bytes", Demand: `a row of the plan "quick"`, Got: "not measured", Result: report.Unknown},
		{Row: r.Rows[0].Title(), Demand: "figures of " + peer.Callbacks, Got: peer.Callbacks + " failed: no room", Result: report.Unknown},
	}, report.Judge(r))
	r.Plan = ""
	require.Len(t, report.Judge(r), 1, "of a part nothing is missed")
}

func TestFloorIsOne(t *testing.T) {
	at := func(floor float64, bytes int) map[string]report.Result {
		return results(closed(1024, bytes, entry(peer.Blocking, peer.Ours, load.Rate, 150), entry(peer.InOrder, peer.Floor, load.Rate, floor),
			entry("quicker", peer.JSON, load.Rate, 200), entry(peer.LSPConnBuffered, peer.JSON, load.Rate, 90), entry(peer.LSPClientBuffered, peer.JSON, load.Rate, 100)))
	}
	const demand = "the floor: calls/s ≥ 2× " + peer.LSPClientBuffered
	require.Equal(t, report.Met, at(200, 100)[demand])
	require.Equal(t, report.Short, at(199, 100)[demand])
	require.NotContains(t, at(199, 4096), demand)
}

func TestScenarioDemands(t *testing.T) {
	open := &report.Row{Scenario: report.Open, Entries: []*report.Entry{entry(peer.Blocking, peer.Ours, load.P99, 3), entry("r", peer.JSON, load.P99, 10)}}
	require.Equal(t, report.Met, results(open)["p99 ≤ 1/3 of r's"])
	stuck := &report.Row{Scenario: report.Stuck, Entries: []*report.Entry{entry(peer.Blocking, peer.Ours, report.Growth, 1<<20)}}
	require.Equal(t, report.Short, results(stuck)["stuck calls add no more than their slots (64 KiB)"])

	late := entry(peer.Blocking, peer.Ours, load.P99, 3e6)
	late.Rounds[0][load.CPU] = 4
	callbacks := entry(peer.Callbacks, peer.Ours, load.CPU, 2)
	rival := entry("r", peer.JSON, load.CPU, 6)
	expiry := &report.Row{Scenario: report.Expiry, Entries: []*report.Entry{late, callbacks, rival, entry(report.TimerFloor, peer.Floor, load.P99, 1.9e6), entry(report.WakeFloor, peer.Floor, load.CPU, 1)}}
	got := results(expiry)
	require.Equal(t, report.Short, got["late p99 ≤ AfterFunc's + 1 tick"])
	require.Equal(t, report.Met, got["CPU per expired call ≤ 1/3 of the best rival's, r"], "the best of ours counts")
	var lines []string
	for _, v := range report.Judge(&report.Report{Rows: []*report.Row{expiry}}) {
		if strings.HasPrefix(v.Demand, "CPU per expired call of ") {
			lines = append(lines, string(v.Result)+" "+v.Got)
		}
	}
	require.Equal(t, []string{"shown 0.667× (" + peer.Blocking + ")", "shown not measured", "shown 0.167× (" + report.WakeFloor + ")"}, lines, "what a call that waits costs, and its floors")

	generator := &report.Row{Scenario: report.Loadgen, Entries: []*report.Entry{entry(peer.Batches, peer.Ours, load.CPU, 50), entry(peer.Submitted, peer.Ours, load.CPU, 100), entry(report.LoadgenClient, peer.Other, load.CPU, 130)}}
	require.Equal(t, report.Short, results(generator)["loadgen adds ≤ 25 % to a call's CPU"])
	ours := entry(peer.Blocking, peer.Ours, load.Rate, 100)
	ours.Rounds[0][load.CPU] = 4
	theirs := entry(peer.GoSDK, peer.JSON, load.Rate, 5)
	theirs.Rounds[0][load.CPU] = 40
	got = results(&report.Row{Scenario: report.Servers, Entries: []*report.Entry{ours, theirs}})
	require.Equal(t, report.Met, got["calls/s ≥ 15× go-sdk"])
	require.Equal(t, report.Short, got["CPU/call ≤ 1/15 of go-sdk"])
	require.Equal(t, report.Unknown, got["calls/s ≥ 5× mcp-go"])
	pair := func(bytes int, rate, p50 float64) *report.Row {
		ours, theirs := entry(peer.MCPGoAdapted, peer.Adapted, load.Rate, rate), entry(peer.MCPGo, peer.JSON, load.Rate, 100)
		ours.Rounds[0][load.P50], theirs.Rounds[0][load.P50] = p50, 100
		return &report.Row{Scenario: report.Adapters, Callers: 64, Bytes: bytes, Entries: []*report.Entry{ours, theirs, entry(peer.GoSDK, peer.JSON, load.Rate, 900)}}
	}
	require.Equal(t, map[string]report.Result{"calls/s ≥ 1.9× mcp-go": report.Met, "p50 ≤ 1/2 of mcp-go's": report.Short}, results(pair(100, 191, 51)))
	require.Equal(t, map[string]report.Result{"calls/s ≥ 1.5× mcp-go": report.Short, "p50 ≤ 1/1.5 of mcp-go's": report.Met}, results(pair(4096, 149, 66)))
	codec := &report.Row{Scenario: report.Codec, Shape: wire.Encode, Entries: []*report.Entry{entry(wire.Ours, peer.Ours, report.Time, 10), entry(wire.Segmentio, peer.Other, report.Time, 14)}}
	require.Equal(t, report.Met, results(codec)["≥ 1.4× as fast as segmentio"])
}

// Every demand of the codec is about a shape that is measured and a library that
// does it.
func TestCodecDemandsCanBeMeasured(t *testing.T) {
	for _, shape := range wire.Shapes() {
		row := &report.Row{Scenario: report.Codec, Shape: shape}
		for _, library := range wire.Libraries() {
			if wire.Does(library, shape) {
				row.Entries = append(row.Entries, entry(library, peer.Other, report.Time, 1))
			}
		}
		got := results(row)
		require.NotEmptyf(t, got, "nothing is demanded of %q", shape)
		require.NotContains(t, got, report.Unknown)
		for demand, result := range got {
			require.NotEqualf(t, report.Unknown, result, "%s: %s", shape, demand)
		}
	}
}

func TestWriteAndRead(t *testing.T) {
	r := report.New(time.Unix(1e9, 5), "")
	r.Rows = []*report.Row{closed(64, 100, entry("a", peer.Ours, load.Rate, 1, 2))}
	path := filepath.Join(t.TempDir(), "r.json")
	require.NoError(t, r.Write(path))
	back, err := report.Read(path)
	require.NoError(t, err)
	require.Equal(t, r, back)

	require.NoError(t, os.WriteFile(path, []byte(`{"schema":99}`), 0o600))
	_, err = report.Read(path)
	require.ErrorContains(t, err, "schema 99")
	require.NoError(t, os.WriteFile(path, []byte(`{`), 0o600))
	_, err = report.Read(path)
	require.ErrorContains(t, err, path)
}

func TestText(t *testing.T) {
	r := report.New(time.Unix(1e9, 0), "")
	e := entry("quick", peer.JSON, load.Rate, 200, 200)
	e.Rounds[0][load.P99], e.Rounds[1][load.P99] = 1.5e6, 1.5e6
	r.Rows = []*report.Row{closed(64, 100, entry(peer.Blocking, peer.Ours, load.Rate, 100), e, &report.Entry{Peer: "broken", Class: peer.JSON, Failed: "a deadlock"})}
	var out bytes.Buffer
	require.NoError(t, r.Text(&out))
	require.Regexp(t, `(?s)unix, 64 callers, 100 bytes.*quick +0% +200 +– +1\.5 ms.*\* correlator +– +100 .*broken: a deadlock`, out.String())
}

// README.md describes every field of the document.
func TestSchemaIsDocumented(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[time.Time]() {
			return
		}
		for f := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(f).Tag.Get("json"), ",")
			require.Containsf(t, string(readme), "`"+name+"`", "README.md says nothing of %s.%s", typ, name)
			walk(typ.Field(f).Type)
		}
	}
	walk(reflect.TypeFor[report.Report]())
	for _, column := range []string{load.Rate, load.P50, load.P99, load.P999, load.CPU, load.Allocs, load.Bytes, load.WriteCall, load.Errors,
		report.HeapBefore, report.HeapAfter, report.Growth, report.Time} {
		require.Contains(t, string(readme), "`"+column+"`")
	}
	_, err = json.Marshal(report.New(time.Now(), ""))
	require.NoError(t, err)
}
