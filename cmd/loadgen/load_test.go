package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/load/report"
	"github.com/correlator-go/correlator/internal/load/tally"
)

const adds = "adds up: every call that was sent is accounted for, and the connection and the server agree"

func TestPipe(t *testing.T) {
	for _, mode := range []string{"batch", "callback", "blocking"} {
		for _, framing := range []string{"line", "headers", "length"} {
			code, out, errs := loadgen(t, short("-mode", mode, "-framing", framing, "-size", "20..600")...)
			require.Equal(t, exitOK, code, out+errs)
			require.Contains(t, out, adds)
			require.Contains(t, out, "sent 3,000 = ok 3,000")
			require.Empty(t, errs)
		}
	}
}

func TestSockets(t *testing.T) {
	for _, listen := range []string{"tcp:127.0.0.1:0", "ws:127.0.0.1:0", "unix:" + filepath.Join(t.TempDir(), "s")} {
		target, stop := serving(t, "-listen", listen, "-dup", "10%", "-reorder", "8")
		for range 2 {
			code, out, errs := loadgen(t, short("-target", target, "-peer-counters")...)
			require.Equal(t, exitOK, code, out+errs)
			require.Contains(t, out, adds)
		}
		code, out, errs := loadgen(t, short("-target", target, "-mode", "blocking")...)
		require.Equal(t, exitOK, code, out+errs)
		require.Contains(t, out, "accounted for, and the connection agrees")
		require.Contains(t, stop(), `"requests":9000`)
	}
}

func TestChild(t *testing.T) {
	code, out, errs := loadgen(t, short("-target", child(t, "serve -listen stdio"), "-peer-counters")...)
	require.Equal(t, exitOK, code, out+errs)
	require.Contains(t, out, adds)
}

func TestChildDies(t *testing.T) {
	code, out, _ := loadgen(t, short("-target", child(t, "serve -listen stdio -die-after 1000"))...)
	require.Equal(t, exitError, code, out)
	require.Contains(t, out, "exited with code 1")
	require.Contains(t, out, "died after the number of requests asked for", "the end of its standard error is shown")
	require.Contains(t, out, "adds up: every call that was sent is accounted for\n")
}

func TestMCP(t *testing.T) {
	for flag, version := range map[string]string{"-mcp": "MCP 2025-11-25 correlator-echo 1", "-discover": "MCP 2026-07-28 correlator-echo 1"} {
		target, stop := serving(t, flag)
		code, out, errs := loadgen(t, "-n", "500", "-c", "8", "-target", target, "-mcp", "-args", `{"message":"hi"}`, "-peer-counters")
		require.Equal(t, exitOK, code, out+errs)
		require.Contains(t, out, version)
		require.Contains(t, out, "sent 500 = ok 500")
		require.Contains(t, out, adds)
		stop()
	}
}

func TestGoals(t *testing.T) {
	code, out, _ := loadgen(t, short("-slo", "error<0.1%,p99<1h,lost<=0,late<=0")...)
	require.Equal(t, exitOK, code, out)
	require.NotContains(t, out, "FAIL")
	code, out, _ = loadgen(t, short("-slo", "p50<1ns,error<0.1%")...)
	require.Equal(t, exitSLO, code, out)
	require.Regexp(t, `p50<1ns .* FAIL\n`, out)
	require.Regexp(t, `error<0.1% .* pass\n`, out)
}

// Faults of the built-in echo server, through the whole program.
func TestFaults(t *testing.T) {
	for _, faults := range []string{
		"-blackhole 5%", "-late 5%", "-dup 5%", "-reorder 16", "-delay exp:1ms", "-delay const:5ms -progress 1ms", "-stall-read 50ms@1ms",
	} {
		code, out, errs := loadgen(t, append(strings.Fields(faults), "-n", "500", "-c", "64", "-timeout", "100ms", "-quiet")...)
		require.Equal(t, exitOK, code, faults+"\n"+out+errs)
		require.Contains(t, out, adds, faults)
	}
	code, out, _ := loadgen(t, short("-die-after", "1000")...)
	require.Equal(t, exitError, code, out)
	require.Contains(t, out, "error        ")
}

func TestOpenLoop(t *testing.T) {
	code, out, errs := loadgen(t, "-stages", "100ms:1000,200ms:1000..3000", "-warmup", "50ms", "-c", "512")
	require.Equal(t, exitOK, code, out+errs)
	require.Contains(t, out, "open loop 100ms:1000/s,200ms:1000/s..3000/s")
	require.Contains(t, out, "sent 550 = ok 550")
	require.Regexp(t, `asked 1,6\d\d/s`, out)
	code, out, errs = loadgen(t, "-rate", "5k/s", "-n", "500", "-quiet")
	require.Equal(t, exitOK, code, out+errs)
	require.Contains(t, out, "sent 500 = ok 500")
	code, out, errs = loadgen(t, "-rate", "2k/s", "-d", "200ms", "-warmup", "0", "-delay", "20ms", "-c", "4", "-drop", "-quiet")
	require.Equal(t, exitOK, code, out+errs)
	require.Contains(t, out, "were dropped: all 4 in flight were out")
}

func TestOutputs(t *testing.T) {
	dir := t.TempDir()
	body := filepath.Join(dir, "body.json")
	require.NoError(t, os.WriteFile(body, []byte("{\n \"a\": [1, 2]\n}"), 0o600))
	jsonFile, percentiles, log := filepath.Join(dir, "run.json"), filepath.Join(dir, "run.txt"), filepath.Join(dir, "run.hlog")
	code, out, errs := loadgen(t, short("-body", "@"+body, "-o", jsonFile, "-hdr", percentiles, "-hlog", log, "-seed", "5")...)
	require.Equal(t, exitOK, code, out+errs)
	text, err := os.ReadFile(jsonFile)
	require.NoError(t, err)
	d := read(t, text)
	require.EqualValues(t, 3000, d.Counts.Sent)
	require.EqualValues(t, 5, d.Config.Seed)
	require.Equal(t, "with 11 B of params from -body", d.Config.Payload)
	require.Positive(t, d.Server.BytesIn)
	for _, name := range []string{percentiles, percentiles + ".service"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Contains(t, string(text), "1/(1-Percentile)")
	}
	requireSum(t, d, log)

	alone := filepath.Join(dir, "alone.hlog")
	code, out, errs = loadgen(t, short("-hlog", alone)...)
	require.Equal(t, exitOK, code, out+errs)
	text, err = os.ReadFile(alone)
	require.NoError(t, err)
	require.Contains(t, string(text), "Tag=service,")

	code, out, errs = loadgen(t, short("-o", "-")...)
	require.Equal(t, exitOK, code)
	require.EqualValues(t, 3000, read(t, []byte(out)).Counts.Sent)
	require.Contains(t, errs, "accounting", "the text has gone to standard error")
}

// requireSum checks that the seconds of a log, and those of the document, sum up
// to the document's totals.
func requireSum(t *testing.T, d report.Document, log string) {
	t.Helper()
	decode := func(text string) *hdr.Histogram {
		h, err := hdr.Decode([]byte(text))
		require.NoError(t, err)
		return h
	}
	f, err := os.Open(log)
	require.NoError(t, err)
	defer f.Close()
	reader := hdr.NewHistogramLogReader(f)
	logged := map[string]*hdr.Histogram{"": tally.NewHistogram(), report.ServiceTag: tally.NewHistogram()}
	for {
		h, err := reader.NextIntervalHistogram()
		require.NoError(t, err)
		if h == nil {
			break
		}
		logged[h.Tag()].Merge(h)
	}
	rows := tally.NewHistogram()
	for _, i := range d.Intervals {
		rows.Merge(decode(i.Response.Histogram))
	}
	require.EqualValues(t, 3000, rows.TotalCount())
	require.True(t, rows.Equals(decode(d.Latency.Response.Histogram)))
	require.True(t, rows.Equals(logged[""]))
	require.True(t, logged[report.ServiceTag].Equals(decode(d.Latency.Service.Histogram)))
}

func read(t *testing.T, text []byte) (d report.Document) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&d))
	require.Equal(t, report.Schema, d.Schema)
	return d
}

func TestCut(t *testing.T) {
	code, out, errs := loadgen(t, "-rate", "2k", "-d", "100ms", "-warmup", "0", "-blackhole", "50%", "-end", "cut", "-timeout", "1m")
	require.Equal(t, exitOK, code, out+errs)
	require.Regexp(t, `in flight when the sending was over \d+, of which \d+ were cut: those are the cancelled ones`, out)
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	var out, errs bytes.Buffer
	code := run(ctx, []string{"-d", "1h", "-blackhole", "1%", "-timeout", "-1s"}, &out, &errs)
	require.Equal(t, exitError, code)
	require.Contains(t, out.String(), "interrupted: this is the part until then")
	require.Contains(t, out.String(), "accounted for")
}
