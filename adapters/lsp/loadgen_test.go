package lsp_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// counts are those of a run.
type counts struct {
	Sent, Late, Duplicate, Unknown, Unsent int64
	Ends                                   struct{ OK, Error, Timeout, Cancelled, Lost int64 }
}

// load runs loadgen on gopls with hovers on every function, and returns its counts, its
// report and how it ended.
func load(t *testing.T, w workspace, program string, args ...string) (counts, string, error) {
	t.Helper()
	type step map[string]any
	write := func(name string, v any) string {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, text, 0o600))
		return path
	}
	prelude := write("prelude.json", []step{
		{"request": "initialize", "params": map[string]any{"processId": nil, "rootUri": uri(w.folder), "capabilities": map[string]any{}}},
		{"notify": "initialized", "params": step{}},
		{"notify": "textDocument/didOpen", "params": w.didOpen()},
		{"request": "textDocument/hover", "params": w.at(0)},
	})
	var mix []step
	for i := range functions {
		mix = append(mix, step{"method": "textDocument/hover", "params": w.at(i)})
	}
	document := filepath.Join(t.TempDir(), "run.json")
	run := exec.Command(program, append([]string{
		"-target", "exec:'" + gopls(t) + "'", "-framing", "headers", "-profile", "lsp", "-prelude", prelude, "-mix", write("mix.json", mix), "-quiet", "-o", document,
	}, args...)...)
	run.Env, run.Dir = w.env, w.folder
	out, ended := run.CombinedOutput()
	text, err := os.ReadFile(document)
	require.NoError(t, err, string(out))
	var d struct{ Counts counts }
	require.NoError(t, json.Unmarshal(text, &d))
	return d.Counts, string(out), ended
}

// The load generator on gopls: what it sent is what was answered, and where calls are
// cancelled what is left of them is accounted for.
func TestLoadgenOnGopls(t *testing.T) {
	gopls(t)
	program := filepath.Join(t.TempDir(), "loadgen.exe") // the name that every system can run
	build := exec.Command("go", "build", "-o", program, "./cmd/loadgen")
	build.Dir = "../.."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	w := newWorkspace(t)

	n, report, err := load(t, w, program, "-n", "2000", "-c", "64", "-timeout", "5m")
	require.NoError(t, err, report)
	require.Contains(t, report, "sent 2,000 = ok 2,000 + error 0 + timeout 0")
	require.Contains(t, report, "adds up")
	require.EqualValues(t, 2000, n.Ends.OK)
	require.Zero(t, n.Late+n.Duplicate+n.Unknown)

	// How many are in time is gopls's affair, and a run without any is a failed one.
	n, report, _ = load(t, w, program, "-n", "2000", "-c", "64", "-timeout", "2ms")
	require.Contains(t, report, "adds up")
	require.EqualValues(t, 2000, n.Sent)
	require.Equal(t, n.Sent, n.Ends.OK+n.Ends.Error+n.Ends.Timeout+n.Ends.Cancelled+n.Ends.Lost)
	require.Positive(t, n.Ends.Timeout)
	require.Zero(t, n.Ends.Lost)
	require.LessOrEqual(t, n.Late+n.Duplicate+n.Unknown, n.Ends.Timeout-n.Unsent, "who cancels gets one answer at most")
}
