package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asProgram makes the test binary be loadgen itself, for tests that need it as a
// child process.
const asProgram = "LOADGEN_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	code := m.Run()
	if builtIn != "" {
		_ = os.RemoveAll(builtIn) // only a temporary directory is left if not
	}
	os.Exit(code)
}

// child is a target that runs loadgen with args as a child process.
func child(t *testing.T, args string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	t.Setenv(asProgram, "1")
	return "exec:'" + self + "' " + args
}

// loadgen runs the program with args and returns what it printed.
func loadgen(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// short is a run of a moment.
func short(args ...string) []string {
	return append([]string{"-n", "3000", "-c", "64", "-quiet"}, args...)
}

// serving starts loadgen serve with args and returns the target that reaches it.
// stop ends it and returns what it said on standard error.
func serving(t *testing.T, args ...string) (target string, stop func() string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	said, out := io.Pipe()
	var errs bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{"serve"}, args...), out, &errs)
		_ = out.Close()
	}()
	line := make([]byte, 256)
	n, err := said.Read(line)
	require.NoError(t, err, errs.String())
	target, ok := strings.CutPrefix(strings.TrimSpace(string(line[:n])), "listening on ")
	require.True(t, ok, string(line[:n]))
	return target, func() string {
		cancel()
		require.Equal(t, exitOK, <-code)
		return errs.String()
	}
}
