package report_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/drive"
	"github.com/correlator-go/correlator/internal/load/plan"
	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/slo"
	"github.com/correlator-go/correlator/internal/load/tally"
)

var update = flag.Bool("update", false, "write the golden files; commit only a difference that you understand")

const ms = time.Millisecond

// open is an open loop with every kind of end.
func open() (report.Config, *drive.Result, *echo.Counts) {
	y := tally.New(1)
	y.KeepHistograms()
	s := y.Shard(0)
	for i := range 2000 {
		due := time.Duration(i) * ms
		wait := time.Duration(i%100) * 10 * time.Microsecond
		s.Record(tally.Sample{Planned: due, Sent: due + wait, Done: due + wait + 2*ms, Warm: i < 1000})
	}
	s.Record(
		tally.Sample{Kind: tally.Rejected, Done: 3 * ms},
		tally.Sample{Kind: tally.TimedOut, Done: time.Second},
		tally.Sample{Kind: tally.TimedOut, Done: time.Second},
	)
	r := &drive.Result{
		Began: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), Warmup: time.Second, Sending: time.Second, Elapsed: 2500 * ms,
		Planned: 2010, Sent: 2003, Dropped: 7, Behind: 30, Held: 20, MeasuredPlanned: 1010, MeasuredSent: 1003, Rate: 1001, Offered: 1003,
		Rows: []tally.Row{y.Rotate(2500*ms, tally.Gauges{Sent: 2003, Behind: 30, Dropped: 7}, false)}, Total: y.Total(),
		Cost: drive.Cost{Calls: 1003, Elapsed: 100 * time.Second, CPU: 2 * ms, CPUKnown: true, Allocs: 200, Heap: 64_000, GC: 1, BytesOut: 150_000, BytesIn: 140_000, Writes: 40},
	}
	r.Stats.Calls.Registered, r.Stats.Calls.Resolved, r.Stats.Calls.Rejected, r.Stats.Calls.Expired, r.Stats.Calls.Late = 2003, 2000, 1, 2, 1
	r.Stats.CancelsOut, r.AtFinish = 2, 3
	c := report.Config{
		Args: []string{"-rate", "1k"}, Target: "pipe:echo", Loop: "open", Schedule: "1s:1000/s", Mode: "batch", InFlight: 64, Drop: true, Warmup: 1, Duration: 1,
		Timeout: int64(time.Second), End: "wait", Framing: "line", Connections: 1, Method: "echo", Payload: "with 100 B of params", Faults: "late 0.1% by 1.1s", Seed: 7, InProcess: true,
	}
	server := &echo.Counts{Connections: 1, Requests: 2003, Answers: 2002, Blackholed: 1, Late: 1, Cancels: 2, Notifications: 2}
	return c, r, server
}

func goals(t *testing.T, text string) []slo.Goal {
	t.Helper()
	out, err := slo.Parse(text)
	require.NoError(t, err)
	return out
}

// parts is a closed loop of a mix over several connections, steered by hand and cut
// at the end.
func parts(t *testing.T) (report.Config, *drive.Result, *echo.Counts, []slo.Goal, error) {
	t.Helper()
	y := tally.New(1)
	y.Split(3, 2)
	y.KeepHistograms()
	for i := range 900 {
		y.Shard(0).Record(tally.Sample{Done: time.Duration(i%3+1) * ms, Conn: uint16(i % 3), Entry: uint16(min(i%10, 1))})
	}
	y.Shard(0).Record(tally.Sample{Kind: tally.Cancelled, Conn: 2, Entry: 1})
	mix, err := plan.NewMix([]plan.Entry{{Name: "write", Weight: 1}, {Name: "read", Weight: 9}}, 1)
	require.NoError(t, err)
	r := &drive.Result{
		Began: began, Sending: time.Second, Elapsed: 3 * time.Second, Paused: 2 * time.Second, Planned: 901, Sent: 901, MeasuredPlanned: 901, MeasuredSent: 901,
		AtFinish: 1, Cut: true, Unsent: 1, Rows: []tally.Row{y.Rotate(time.Second, tally.Gauges{Sent: 901}, false)}, Total: y.Total(),
		Connections: y.Connections(), Entries: y.Entries(), Mix: mix, Rate: 900, Offered: 901,
		Events:   []drive.Event{{At: 0.5, Text: "paused", Steering: drive.Steering{Paused: true, Factor: 1}}, {At: 2.5, Text: "resumed", Steering: drive.Steering{Factor: 1}}},
		Steering: drive.Steering{Factor: 1},
	}
	c := report.Config{
		Args: []string{"-conns", "3"}, Target: "unix:/s", Loop: "closed", Mode: "callback", InFlight: 9, Duration: 1, Timeout: int64(time.Second), End: "cut",
		Framing: "line", Connections: 3, Method: "mix", Payload: "of 2 kinds from mix.json", Seed: 1,
	}
	return c, r, nil, nil, nil
}

// documents is one of each sort.
func documents(t *testing.T) map[string]*report.Document {
	t.Helper()
	build := func(c report.Config, r *drive.Result, server *echo.Counts, g []slo.Goal, failure error) *report.Document {
		d, err := report.Build(c, r, server, g, failure)
		require.NoError(t, err)
		return d
	}
	out := map[string]*report.Document{}

	c, r, server := open()
	out["open"] = build(c, r, server, goals(t, "p99<5ms,p99.9<20ms,service.p50<=2.1ms,error<0.1%,error<=3,rate>=900,allocs<1,dropped<1%,writes<0.1,cpu<5us"), nil)

	c, r, server = open()
	server.Answers++
	r.Behind, r.Held = 130, 0
	c.Target, c.InProcess, c.MCP, c.Peer, c.Method, c.Payload = "exec:server", false, "2025-11-25", "everything 2.0.0", "tools/call", "of echo with 60 B of params"
	out["wrong"] = build(c, r, server, goals(t, "p99<5ms"), nil)

	out["parts"] = build(parts(t))

	y := tally.New(1)
	y.Shard(0).Record(tally.Sample{Kind: tally.Lost}, tally.Sample{Kind: tally.Lost, Warm: true})
	y.Rotate(time.Second, tally.Gauges{}, false)
	dead := &drive.Result{Sent: 2, Planned: 2, Total: y.Total(), Rows: []tally.Row{}}
	closed := report.Config{
		Args: []string{}, Target: "exec:./server", Loop: "closed", Mode: "blocking", InFlight: 1024, Requests: 10, Timeout: -1, End: "wait", Framing: "line", Connections: 1,
		Method: "echo", Payload: "with 100 B of params", Seed: 1,
	}
	out["dead"] = build(closed, dead, nil, goals(t, "p99<5ms,cpu<1ms"), errors.New("conn: peer gone: ./server exited with code 1"))
	return out
}

func TestGolden(t *testing.T) {
	for name, d := range documents(t) {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			require.NoError(t, report.Heading(&out, d.Config))
			require.NoError(t, d.Text(&out, report.Style{}))
			file := filepath.Join("testdata", name+".txt")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), out.String())
		})
	}
}

func TestExitCodes(t *testing.T) {
	documents := documents(t)
	require.Equal(t, 3, documents["open"].Exit, "a goal was missed")
	require.Equal(t, 1, documents["wrong"].Exit, "it does not add up")
	require.Equal(t, 1, documents["dead"].Exit, "the run failed")

	c, r, server := open()
	d, err := report.Build(c, r, server, goals(t, "p99<2s"), nil)
	require.NoError(t, err)
	require.Zero(t, d.Exit)
	r.Interrupted = true
	d, err = report.Build(c, r, server, nil, nil)
	require.NoError(t, err)
	require.Equal(t, 1, d.Exit)
}

func TestColour(t *testing.T) {
	var plain, coloured bytes.Buffer
	d := documents(t)["open"]
	require.NoError(t, d.Text(&plain, report.Style{}))
	require.NoError(t, d.Text(&coloured, report.Style{Colour: true}))
	require.NotContains(t, plain.String(), "\x1b")
	require.Contains(t, coloured.String(), "\x1b[31;1mFAIL\x1b[0m")
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriteErrorsAreReported(t *testing.T) {
	d := documents(t)["open"]
	require.ErrorIs(t, d.Text(broken{}, report.Style{}), os.ErrClosed)
	require.ErrorIs(t, d.Write(broken{}), os.ErrClosed)
	require.ErrorIs(t, report.Heading(broken{}, d.Config), os.ErrClosed)
}
