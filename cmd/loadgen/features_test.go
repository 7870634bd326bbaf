package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/echo"
	"github.com/correlator-go/correlator/internal/load/report"
)

// Ten calls of 10 ms in flight are a thousand a second, and not more.
func TestSearch(t *testing.T) {
	file := filepath.Join(t.TempDir(), "search.json")
	code, out, errs := loadgen(t, "-search", "p50<100ms", "-rate", "150", "-c", "10", "-delay", "10ms", "-d", "300ms", "-warmup", "50ms", "-o", file)
	require.Equal(t, exitOK, code, out+errs)
	require.Regexp(t, `search       the highest rate that holds p50<100ms; each probe 300ms after 50ms of warm-up\nprobe `, out)
	require.Regexp(t, `answer       \S+/s is the highest rate that holds p50<100ms: \S+/s does not`, out)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var found report.Search
	require.NoError(t, json.Unmarshal(text, &found))
	require.Equal(t, report.SearchSchema, found.Schema)
	require.Greater(t, *found.Rate, 140.0)
	require.Less(t, *found.Rate, 1100.0)
	require.Greater(t, *found.Above, *found.Rate)
	require.Equal(t, strings.Count(out, "\nprobe "), len(found.Probes), "every probe is printed")
	last := found.Probes[len(found.Probes)-1]
	require.True(t, last.Holds && last.Confirming && last.Rate == *found.Rate, "the answer was probed once more")
}

func TestSearchOfWhatFails(t *testing.T) {
	code, out, _ := loadgen(t, "-search", "p99<1s", "-d", "100ms", "-warmup", "0", "-die-after", "50")
	require.Equal(t, exitError, code, out)
	require.Contains(t, out, "answer       no answer: the search ended early")
	require.Regexp(t, `error .*(peer gone|connection ended)`, out)
	code, out, _ = loadgen(t, "-search", "p99<1s", "-d", "100ms", "-quiet", "-o", "-")
	require.Equal(t, exitOK, code)
	var found report.Search
	require.NoError(t, json.Unmarshal([]byte(out), &found), "standard output is JSON alone")
}

func TestSeveralConnections(t *testing.T) {
	for _, args := range [][]string{short("-conns", "4"), short("-conns", "3", "-mode", "blocking"), {"-conns", "2", "-rate", "2k", "-n", "500", "-quiet"}} {
		code, out, errs := loadgen(t, args...)
		require.Equal(t, exitOK, code, out+errs)
		require.Contains(t, out, adds)
		require.Regexp(t, `connections  [234]; least–most of one: \S+–\S+ calls/s, p50 \S+–\S+, p99 \S+–\S+\n`, out)
	}
	target, stop := serving(t)
	code, out, errs := loadgen(t, short("-target", target, "-conns", "4", "-peer-counters", "-o", "-")...)
	require.Equal(t, exitOK, code, out+errs)
	d := read(t, []byte(out))
	require.Len(t, d.Connections, 4)
	var calls int64
	for i, part := range d.Connections {
		calls += part.Ends.OK
		require.InDelta(t, 0.25, part.Share, 1e-9)
		require.LessOrEqual(t, d.Fairness.RateLeast, part.Rate)
		require.GreaterOrEqual(t, d.Fairness.RateMost, part.Rate)
		require.LessOrEqual(t, d.Fairness.P99Least, part.Response.P99)
		require.GreaterOrEqual(t, d.Fairness.P99Most, part.Response.P99, i)
	}
	require.EqualValues(t, 3000, calls)
	require.Contains(t, stop(), `"connections":4`)

	// Each child is a server with counters of its own.
	code, out, errs = loadgen(t, short("-target", child(t, "serve -listen stdio"), "-conns", "2", "-peer-counters")...)
	require.Equal(t, exitOK, code, out+errs)
	require.Contains(t, out, adds)
}

func TestMixFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mix.json")
	require.NoError(t, os.WriteFile(file, []byte(`[{"method":"a","size":"100..200","weight":3},{"name":"the other","method":"b","params":{"k":1}}]`), 0o600))
	code, out, errs := loadgen(t, short("-mix", file)...)
	require.Equal(t, exitOK, code, out+errs)
	require.Contains(t, out, adds)
	require.Regexp(t, `mix          a +75\.0% asked, 2,\d\d\d calls, 0 not ok; p50 \S+  p99 \S+  max \S+\n +the other +25\.0% asked, \d{3} calls`, out)

	require.NoError(t, os.WriteFile(file, []byte(`[{"tool":"echo","args":{"message":"hi"}},{"method":"ping"},{"method":"nothing"}]`), 0o600))
	target, stop := serving(t, "-mcp", "-discover")
	code, out, errs = loadgen(t, short("-mix", file, "-mcp", "-target", target, "-o", "-")...)
	require.Equal(t, exitOK, code, out+errs)
	d := read(t, []byte(out))
	require.Equal(t, []string{"echo", "ping", "nothing"}, []string{d.Mix[0].Name, d.Mix[1].Name, d.Mix[2].Name})
	require.Zero(t, d.Mix[0].Ends.Error+d.Mix[1].Ends.Error)
	require.Zero(t, d.Mix[2].Ends.OK, "no such method")
	require.Equal(t, "mix", d.Config.Method)
	stop()
}

// recorder is an echo server that remembers the method and the params of each
// request. The ids are left out: they follow from the order in which calls ended.
func recorder(t *testing.T) (target string, read func() []string) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	requests := make(chan []string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		var copied bytes.Buffer
		_ = echo.Serve(struct {
			io.Reader
			io.WriteCloser
		}{io.TeeReader(c, &copied), c}, echo.Options{}) // ends with the client, who says how it went
		var lines []string
		for line := range bytes.Lines(copied.Bytes()) {
			lines = append(lines, string(line[bytes.Index(line, []byte(`"method"`)):]))
		}
		requests <- lines
	}()
	return "unix:" + l.Addr().String(), func() []string { return <-requests }
}

// The same seed sends the same requests, one by one and in every mode.
func TestSeedIsRepeatable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mix.json")
	require.NoError(t, os.WriteFile(file, []byte(`[{"method":"a","size":"20..2000"},{"method":"b","size":"20..90","weight":2}]`), 0o600))
	for _, load := range [][]string{{"-size", "20..2000"}, {"-mix", file}, {"-size", "20..2000", "-mode", "blocking"}} {
		once := func(seed string) []string {
			target, read := recorder(t)
			code, out, errs := loadgen(t, append(load, "-target", target, "-n", "500", "-c", "1", "-seed", seed, "-quiet")...)
			require.Equal(t, exitOK, code, out+errs)
			lines := read()
			require.Len(t, lines, 500)
			return lines
		}
		first := once("7")
		require.Equal(t, first, once("7"))
		require.NotEqual(t, first, once("8"))
	}
	_, out, _ := loadgen(t, "-n", "10", "-seed", "77")
	require.Contains(t, out, ", seed 77\n")
}

func TestRepeat(t *testing.T) {
	dir := t.TempDir()
	code, out, errs := loadgen(t, short("-repeat", "2", "-o", filepath.Join(dir, "run.json"), "-hlog", filepath.Join(dir, "log"), "-hdr", filepath.Join(dir, "p.txt"))...)
	require.Equal(t, exitOK, code, out+errs)
	require.Contains(t, out, "run 1 of 2\n")
	require.Contains(t, out, "run 2 of 2\n")
	for _, name := range []string{"run.1.json", "run.2.json", "log.1", "log.2", "p.1.txt", "p.2.txt", "p.1.txt.service"} {
		require.FileExists(t, filepath.Join(dir, name))
	}
	code, _, _ = loadgen(t, short("-repeat", "2", "-slo", "p50<1ns")...)
	require.Equal(t, exitSLO, code)
	require.Equal(t, exitError, worse(exitSLO, exitError))
}

// A peer that stalls for longer than the run is slow, and lies about nothing.
func TestStallLongerThanTheRun(t *testing.T) {
	for _, mode := range []string{"batch", "callback", "blocking"} {
		for _, loop := range [][]string{{"-rate", "2k"}, {"-c", "64"}} {
			args := append([]string{"-mode", mode, "-stall-read", "1h@100ms", "-d", "300ms", "-warmup", "0", "-timeout", "150ms", "-quiet"}, loop...)
			code, out, errs := loadgen(t, args...)
			require.Equal(t, exitOK, code, out+errs)
			require.Contains(t, out, adds)
		}
	}
	target, stop := serving(t, "-stall-read", "1h@100ms")
	code, out, errs := loadgen(t, "-target", target, "-rate", "2k", "-d", "300ms", "-warmup", "0", "-timeout", "150ms", "-quiet", "-peer-counters")
	require.Equal(t, exitOK, code, out+errs)
	require.Contains(t, out, "the server's counters are not compared")
	require.NotContains(t, out, "DOES NOT ADD UP")
	stop()
}

func TestCompareSaysWhatItCannot(t *testing.T) {
	dir := t.TempDir()
	good, bad, not := filepath.Join(dir, "good.json"), filepath.Join(dir, "bad.json"), filepath.Join(dir, "not.json")
	_, _, _ = loadgen(t, short("-o", good)...)
	_, _, _ = loadgen(t, short("-o", bad, "-die-after", "100")...)
	require.NoError(t, os.WriteFile(not, []byte(`{"schema":"x"}`), 0o600))
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{good, bad}, exitError, "bad.json: the run failed or does not add up"},
		{[]string{good, not}, exitError, `its schema is "x"`},
		{[]string{good}, exitUsage, "two sides"},
		{[]string{good, filepath.Join(dir, "zz*")}, exitUsage, "no such file"},
		{[]string{good, good, "-max-regress", "p99"}, exitUsage, "want METRIC=PERCENT"},
		{[]string{good, good, "-max-regress", "speed=5%"}, exitUsage, "speed"},
		{[]string{good, good, "-o", "/no/such/dir/x"}, exitError, "/no/such/dir/x"},
		{[]string{"-max-regress", "p99.99=5%", good, good}, exitOK, "p99.99"},
	} {
		code, out, errs := loadgen(t, append([]string{"compare"}, test.args...)...)
		require.Equal(t, test.code, code, out+errs)
		require.Contains(t, out+errs, test.says)
	}
	code, out, errs := loadgen(t, "compare", good, good, "-o", "-")
	require.Equal(t, exitOK, code)
	var c report.Comparison
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	require.Equal(t, report.ComparisonSchema, c.Schema)
	require.Contains(t, errs, "metric")
}

// Every command and every flag is in every script, and shells that are here can
// read theirs.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		code, out, errs := loadgen(t, "completion", shell)
		require.Equal(t, exitOK, code, errs)
		for _, c := range commands() {
			require.Contains(t, out, c.name)
			for _, name := range flagNames(c) {
				require.Regexp(t, `-o `+name[1:]+`\b|[' ]`+name+`\b`, out, "%s of %s in %s", name, c.name, shell)
			}
		}
		require.Contains(t, out, "blocking")
		if path, err := exec.LookPath(shell); err == nil {
			check := exec.Command(path, "-n")
			check.Stdin = strings.NewReader(out)
			said, err := check.CombinedOutput()
			require.NoError(t, err, string(said))
		}
	}
	if path, err := exec.LookPath("bash"); err == nil {
		_, script, _ := loadgen(t, "completion", "bash")
		for words, want := range map[string]string{
			"loadgen se": "serve", "loadgen -mode b": "batch blocking", "loadgen run -se": "-search -seed", "loadgen serve -dis": "-discover",
			"loadgen completion f": "fish", "loadgen help comp": "compare completion",
		} {
			line := strings.Fields(words)
			ask := script + "\nCOMP_WORDS=(" + words + "); COMP_CWORD=" + string(rune('0'+len(line)-1)) + "; _loadgen; echo \"${COMPREPLY[@]}\""
			said, err := exec.Command(path, "-c", ask).CombinedOutput()
			require.NoError(t, err, string(said))
			require.Equal(t, want, strings.TrimSpace(string(said)), words)
		}
	}
	for _, args := range [][]string{{"completion"}, {"completion", "tcsh"}, {"completion", "bash", "zsh"}} {
		code, _, _ := loadgen(t, args...)
		require.Equal(t, exitUsage, code)
	}
}
