package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func pageOf(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

func TestHTMLOfARun(t *testing.T) {
	dir := t.TempDir()
	html, saved := filepath.Join(dir, "run.html"), filepath.Join(dir, "run.json")
	code, _, errs := loadgen(t, "-rate", "5k", "-d", "100ms", "-warmup", "0", "-html", html, "-o", saved, "-slo", "error<1%", "-method", "</script>")
	require.Equal(t, exitOK, code, errs)
	page := pageOf(t, html)
	for _, want := range []string{"&lt;/script&gt; on pipe:echo", `data-name="p99.9"`, `class="h7"`, "every call accounted for", "1 goal met", "-method"} {
		require.True(t, strings.Contains(page, want), want)
	}
	require.Equal(t, 1, strings.Count(page, "</script>"))

	again := filepath.Join(dir, "again.html")
	code, _, errs = loadgen(t, "report", saved, "-html", again)
	require.Equal(t, exitOK, code, errs)
	require.True(t, page == pageOf(t, again), "the saved run gives the same page")

	code, out, errs := loadgen(t, "report", saved, saved, "-html", "-")
	require.Equal(t, exitOK, code, errs)
	require.True(t, strings.Contains(out, "run (1) and run (2)"))

	code, out, errs = loadgen(t, "report", saved)
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "accounting")
}

func TestReportRefuses(t *testing.T) {
	odd := filepath.Join(t.TempDir(), "odd.json")
	require.NoError(t, os.WriteFile(odd, []byte(`{"schema":"other"}`), 0o600))
	for _, x := range []struct {
		code int
		says string
		args []string
	}{
		{exitUsage, "want one run or two, not 0", nil},
		{exitUsage, "want one run or two, not 3", []string{"a", "b", "c"}},
		{exitUsage, "-html", []string{"a", "b"}},
		{exitError, "no-such-file", []string{"no-such-file"}},
		{exitError, odd, []string{odd, "-html", "-"}},
	} {
		code, _, errs := loadgen(t, append([]string{"report"}, x.args...)...)
		require.Equal(t, x.code, code, x.args)
		require.Contains(t, errs, x.says)
	}
	code, _, errs := loadgen(t, "-n", "10", "-html", filepath.Join(t.TempDir(), "no", "such", "folder.html"))
	require.Equal(t, exitError, code)
	require.Contains(t, errs, "folder.html")
}

func TestRunNames(t *testing.T) {
	for _, x := range [][4]string{
		{"main.json", "tuned.json", "main", "tuned"}, {"a/run.json", "b/run.json", "a/run", "b/run"},
		{"run.json", "./run.json", "run (1)", "run (2)"}, {"x/run.json", "run.json", "x/run", "run"},
	} {
		require.Equal(t, x[2:], runNames(x[:2]), x)
	}
}
