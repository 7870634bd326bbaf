package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/report"
)

// builtIn is where built has put the program; TestMain removes it.
var builtIn string

// built is loadgen as go build makes it, once for all tests that need it.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "loadgen")
	if err != nil {
		return "", err
	}
	builtIn = dir
	program := filepath.Join(dir, "loadgen.exe") // the name that every system can run
	out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return program, nil
})

// program runs the built loadgen and returns what it left.
func program(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	path, err := built()
	require.NoError(t, err)
	var out, errs bytes.Buffer
	c := exec.Command(path, args...)
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		require.True(t, ok, "%v", err)
		code = exit.ExitCode()
	}
	return code, out.String(), errs.String()
}

// The exit codes, end to end.
func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	path, err := built()
	require.NoError(t, err)
	for _, run := range []struct {
		line string
		code int
		says string
	}{
		{"-n 500 -quiet", exitOK, adds},
		{"run -n 500 -quiet -slo p99<1h,error<=0", exitOK, "pass"},
		{"version", exitOK, "loadgen "},
		{"-h", exitOK, "exit"},
		{"-n 500 -quiet -die-after 100", exitError, "error        "},
		{"-target unix:" + file("nobody"), exitError, "nobody"},
		{"-target exec:" + path + " serve -listen x", exitError, "exited with code 2"},
		{"-nope", exitUsage, "-nope"},
		{"serve -listen x", exitUsage, "listen"},
		{"compare a", exitUsage, "two sides"},
		{"-n 500 -quiet -slo p50<1ns", exitSLO, "FAIL"},
		{"-search p50<1ns -rate 100 -d 200ms -warmup 0 -quiet", exitSLO, "no rate holds"},
		// Closed loops: no stall of the machine grows into a queue, and makes the fast
		// side as slow as the slow one.
		{"-n 160 -c 16 -quiet -repeat 5 -o " + file("fast.json"), exitOK, adds},
		{"-n 32 -c 16 -quiet -repeat 5 -delay 300ms -o " + file("slow.json"), exitOK, adds},
		{"compare " + file("fast.*.json") + " " + file("fast.*.json") + " -max-regress p50=1%", exitOK, "same"},
		{"compare " + file("fast.*.json") + " " + file("slow.*.json"), exitOK, "worse"},
		{"compare " + file("slow.*.json") + " " + file("fast.*.json") + " -max-regress p50=1%", exitOK, "better"},
		{"compare " + file("fast.*.json") + " " + file("slow.*.json") + " -max-regress p50=5%", exitSLO, "REGRESSED by more than 5%"},
	} {
		args := strings.Fields(run.line)
		if rest, ok := strings.CutPrefix(run.line, "-target exec:"); ok {
			args = []string{"-target", "exec:" + rest}
		}
		code, out, errs := program(t, args...)
		require.Equal(t, run.code, code, "%s\n%s%s", run.line, out, errs)
		require.Contains(t, out+errs, run.says, run.line)
	}
	require.Len(t, glob(t, file("fast.*.json")), 5)
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	require.NoError(t, err)
	return names
}

// A server that lies about its counts makes 1 of the exit code: the accounting is
// compared, not printed.
func TestWhatDoesNotAddUpIsAnError(t *testing.T) {
	target, stop := serving(t)
	// A second client at the same server is in its counts, and not in ours.
	end := loadgenAside(t, target)
	code, out, _ := loadgen(t, "-target", target, "-peer-counters", "-rate", "100", "-d", "300ms", "-warmup", "0", "-timeout", "100ms", "-quiet")
	require.Equal(t, exitError, code, out)
	require.Contains(t, out, "DOES NOT ADD UP: ")
	end()
	stop()
}

// loadgenAside loads target until the function that it returns is called.
func loadgenAside(t *testing.T, target string) (end func()) {
	t.Helper()
	path, err := built()
	require.NoError(t, err)
	c := exec.Command(path, "-target", target, "-rate", "1000", "-d", "1h", "-warmup", "0", "-quiet")
	require.NoError(t, c.Start())
	return func() {
		require.NoError(t, c.Process.Kill())
		require.Error(t, c.Wait())
	}
}

// For each fault of loadgen serve, what this end counted and what the server says of
// itself at the end agree.
func TestServersCountersAgree(t *testing.T) {
	for _, fault := range []struct {
		flags string
		also  string // flags of the load
		code  int
		check func(t *testing.T, d report.Document, s echo.Counts)
	}{
		{"", "", exitOK, func(t *testing.T, d report.Document, s echo.Counts) { require.EqualValues(t, 1000, d.Counts.Ends.OK) }},
		{"-delay const:5ms", "", exitOK, func(t *testing.T, d report.Document, s echo.Counts) {
			require.GreaterOrEqual(t, d.Latency.Service.Min, int64(5_000_000))
		}},
		{"-delay exp:5ms", "", exitOK, nil},
		{"-delay lognormal:5ms,0.5", "", exitOK, nil},
		{"-delay pareto:1ms,1.5", "", exitOK, nil},
		{"-blackhole 5%", "", exitOK, func(t *testing.T, d report.Document, s echo.Counts) {
			require.NotZero(t, s.Blackholed)
			require.Equal(t, s.Blackholed, d.Counts.Ends.Timeout)
		}},
		{"-late 5% -late-by 500ms", "", exitOK, func(t *testing.T, d report.Document, s echo.Counts) {
			require.NotZero(t, s.Late)
			require.Equal(t, s.Late, d.Counts.Ends.Timeout)
			require.Equal(t, s.Late, d.Counts.Late+d.Counts.Duplicate+d.Counts.Unknown)
		}},
		{"-dup 5%", "", exitOK, func(t *testing.T, d report.Document, s echo.Counts) {
			require.NotZero(t, s.Duplicates)
			require.Equal(t, s.Duplicates, d.Counts.Late+d.Counts.Duplicate+d.Counts.Unknown)
		}},
		{"-reorder 16", "", exitOK, nil},
		{"-delay const:20ms -progress 5ms", "-want-progress", exitOK, func(t *testing.T, d report.Document, s echo.Counts) {
			require.NotZero(t, s.Progress)
		}},
		{"-stall-read 100ms@1ms", "", exitOK, nil},
		{"-stall-read 600ms@1ms", "-c 8", exitOK, func(t *testing.T, d report.Document, s echo.Counts) {
			require.NotZero(t, d.Counts.Ends.Timeout)
		}},
		{"-delay 5ms -blackhole 2% -late 2% -late-by 500ms -dup 2% -reorder 4 -progress 2ms -stall-read 50ms@20ms", "-want-progress", exitOK, nil},
		{"-die-after 500", "", exitError, func(t *testing.T, d report.Document, s echo.Counts) {
			require.EqualValues(t, 500, s.Requests)
			require.Contains(t, d.Error, "peer gone")
			require.NotZero(t, d.Counts.Ends.Lost)
			require.LessOrEqual(t, d.Counts.Ends.OK, s.Answers)
		}},
	} {
		t.Run(fault.flags, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "counts.json")
			target, stop := serving(t, append(strings.Fields(fault.flags), "-o", file)...)
			args := append(strings.Fields(fault.also), "-target", target, "-n", "1000", "-timeout", "300ms", "-quiet", "-o", "-")
			if !strings.Contains(fault.also, "-c ") {
				args = append(args, "-c", "64")
			}
			if fault.code == exitOK {
				args = append(args, "-peer-counters")
			}
			code, out, errs := loadgen(t, args...)
			require.Equal(t, fault.code, code, out+errs)
			said := stop()
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Contains(t, said, "loadgen serve: "+strings.TrimSpace(string(text))+"\n")
			var s echo.Counts
			require.NoError(t, json.Unmarshal(text, &s))
			d := read(t, []byte(out))
			require.Empty(t, d.Problems)
			n := d.Counts
			require.Equal(t, n.Sent, n.Ends.Sum())
			require.EqualValues(t, 1, s.Connections)
			if fault.code == exitOK {
				require.EqualValues(t, 1000, n.Sent)
				require.Equal(t, n.Sent-n.Unsent, s.Requests)
				require.Equal(t, s.Requests-s.Blackholed+s.Duplicates-s.Unsent, s.Answers)
				require.Equal(t, s.Answers, n.Ends.OK+n.Ends.Error+n.Late+n.Duplicate+n.Unknown)
				require.Equal(t, s.Progress, n.Progress)
				require.NotNil(t, d.Server)
				// The question for the counters is not counted, but its bytes are.
				d.Server.BytesIn, d.Server.BytesOut, d.Server.Writes = s.BytesIn, s.BytesOut, s.Writes
				d.Server.Connections = s.Connections
				require.Equal(t, s, *d.Server, "what was asked for at the end of the run is what it says in the end")
			}
			if fault.check != nil {
				fault.check(t, d, s)
			}
		})
	}
}
