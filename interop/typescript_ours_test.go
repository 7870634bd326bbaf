package interop

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// packages is the folder of what "make peers" installed, if name is there.
func packages(t *testing.T, name string) string {
	t.Helper()
	folder, err := filepath.Abs("../.peers")
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(folder, "node_modules", name)); err != nil {
		missing(t, name+" is not installed", err)
	}
	return folder
}

// script runs a script of peers to its end and gives what it printed.
func script(t *testing.T, node string, args ...string) []byte {
	t.Helper()
	c := exec.CommandContext(t.Context(), node, args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	require.NoError(t, err, "%s%s", out, stderr.Bytes())
	return out
}

// used is what peers/use.mjs prints.
type used struct {
	Server, Revision, Text, Aborted, Afterwards, Updated, Closed string
	Tools, Errors                                                []string
	Prompt, Sum, Parallel                                        int
	Progress                                                     []float64
	Changed                                                      bool
}

// The clients of the TypeScript SDK, version 2 in each of its modes and version 1,
// on our server, over stdio and HTTP.
func TestTypeScriptClientsOnOurServer(t *testing.T) {
	for _, try := range []struct{ sdk, era, revision, closed string }{
		{"v2", "auto", "2026-07-28", "local"},
		{"v2", "modern", "2026-07-28", "local"},
		{"v2", "legacy", "2025-11-25", ""},
		{"v1", "legacy", "2025-11-25", ""},
	} {
		use := func(t *testing.T, target string) {
			folder := packages(t, map[string]string{"v1": "@modelcontextprotocol/sdk", "v2": "@modelcontextprotocol/client"}[try.sdk])
			var got used
			require.NoError(t, json.Unmarshal(script(t, node(t), "peers/use.mjs", folder, try.sdk, try.era, target), &got))
			require.Contains(t, got.Tools, "echo")
			require.NotEmpty(t, got.Progress)
			require.Equal(t, []float64{1, 2, 3, 4}[:len(got.Progress)], got.Progress)
			got.Tools, got.Progress = nil, nil
			require.Equal(t, used{
				Server: "correlator-everything", Revision: try.revision,
				Text: "This is the content of the static text resource.", Prompt: 1, Sum: 3,
				Parallel: 200, Aborted: "rejected", Afterwards: "still there",
				Updated: "test://watched-resource", Changed: true, Closed: try.closed, Errors: []string{},
			}, got)
		}
		t.Run(try.sdk+" "+try.era+" stdio", func(t *testing.T) { use(t, ourServer(t)) })
		t.Run(try.sdk+" "+try.era+" HTTP", func(t *testing.T) { use(t, ourEndpoint(t)) })
	}
}
