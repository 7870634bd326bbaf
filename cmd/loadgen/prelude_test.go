package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func preludeFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "prelude.json")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// Each connection is told the prelude, which is no part of the load: the counts add up
// without it, while the server has had it.
func TestPrelude(t *testing.T) {
	file := preludeFile(t, `[
		{"request": "initialize", "params": {
			"capabilities": {}
		}},
		{"notify": "initialized", "params": {}},
		{"request": "warm/up"}
	]`)
	for _, framing := range []string{"line", "headers"} {
		target, stop := serving(t, "-framing", framing, "-profile", "lsp")
		code, out, errs := loadgen(t, short("-target", target, "-framing", framing, "-profile", "lsp", "-conns", "3", "-prelude", file, "-peer-counters")...)
		require.Equal(t, exitOK, code, out+errs)
		require.Contains(t, out, "sent 3,000 = ok 3,000")
		require.Contains(t, out, adds)
		require.Contains(t, stop(), `"requests":3006`)
	}
	code, out, errs := loadgen(t, short("-prelude", file, "-repeat", "2")...)
	require.Equal(t, exitOK, code, out+errs)
	require.Contains(t, out, adds)
}

// What the peer refuses before the load is said, and nothing is loaded.
func TestPreludeFails(t *testing.T) {
	target, stop := serving(t, "-mcp")
	code, out, errs := loadgen(t, short("-target", target, "-prelude", preludeFile(t, `[{"request":"ping"},{"request":"tools/call","params":{"name":"wrench"}}]`))...)
	require.Equal(t, exitError, code, out)
	require.Contains(t, errs, "prelude, message 2 of 2, tools/call: ")
	require.Contains(t, errs, "wrench")
	require.Empty(t, out)
	stop()
	for args, want := range map[[4]string]string{
		{"-prelude", "/no/such/file"}:                   "/no/such/file",
		{"-prelude", preludeFile(t, `[{"request":5}]`)}: "message 1 of 1",
		{"-mcp", "-target=http://127.0.0.1:1/mcp", "-prelude", preludeFile(t, `[{"request":"a"},{"notify":"b"}]`)}: "-prelude is of connections",
	} {
		var line []string
		for _, arg := range args {
			if arg != "" {
				line = append(line, arg)
			}
		}
		code, _, errs := loadgen(t, line...)
		require.Equal(t, exitUsage, code, errs)
		require.Contains(t, errs, want)
	}
}
