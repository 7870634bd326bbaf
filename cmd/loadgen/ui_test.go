package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// begun runs loadgen until it prints what pattern finds, which is returned; wait is
// for its end and gives the exit code and what came on standard output.
func begun(t *testing.T, pattern string, args ...string) (found string, wait func() (int, string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	errs, w := io.Pipe()
	var out strings.Builder
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, args, &out, w)
		_ = w.Close()
	}()
	lines := bufio.NewReader(errs)
	expression := regexp.MustCompile(pattern)
	for found == "" {
		line, err := lines.ReadString('\n')
		require.NoError(t, err, "it ended before it said where")
		found = expression.FindString(line)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }() // ends with the program
	return found, func() (int, string) { c := <-code; return c, out.String() }
}

// The page is served while the run goes on, its buttons steer it, and it ends
// with the run.
func TestUI(t *testing.T) {
	address, wait := begun(t, `http://127\.0\.0\.1:\d+/\?token=\w+`, "-rate", "1k", "-d", "1h", "-ui", ":0")
	base, token, _ := strings.Cut(address, "?token=")
	answer, err := http.Get(address)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	for _, button := range []string{"faster", "stop"} {
		r, err := http.NewRequest("POST", base+"control", strings.NewReader(button))
		require.NoError(t, err)
		r.Header.Set("X-Loadgen-Token", token)
		answer, err = http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusNoContent, answer.StatusCode)
	}
	code, out := wait()
	require.Equal(t, exitOK, code)
	require.Contains(t, out, "adds up")
	_, err = http.Get(address)
	require.Error(t, err, "it is served no more")
}

func TestWatchersRefuse(t *testing.T) {
	for _, name := range []string{"-ui", "-prom"} {
		code, _, errs := loadgen(t, name, "nowhere")
		require.Equal(t, exitUsage, code)
		require.Contains(t, errs, name+` "nowhere": want an address such as 127.0.0.1:0`)
		code, _, errs = loadgen(t, "-n", "10", name, "192.0.2.1:1") // of no machine (RFC 5737)
		require.Equal(t, exitError, code)
		require.Contains(t, errs, name+": listen")
		code, _, errs = loadgen(t, "-n", "10", name, ":0", "-repeat", "2")
		require.Equal(t, exitUsage, code)
		require.Contains(t, errs, "-repeat")
	}
}
