package interop

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/conn"
)

// missing skips the test with a word on how to get the peer, or fails it where
// peers are required.
func missing(t *testing.T, what string, err error) {
	t.Helper()
	if os.Getenv("CORRELATOR_REQUIRE_PEERS") == "1" {
		t.Fatalf("%s: %v", what, err)
	}
	t.Skipf("%s (%v): this test needs Node and, once, \"make peers\"", what, err)
}

func node(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		missing(t, "Node is not here", err)
	}
	return path
}

func spawn(t *testing.T, o conn.Options, args ...string) *conn.Conn {
	t.Helper()
	c, err := conn.Spawn(t.Context(), conn.Command{Path: node(t), Args: args}, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// everything starts server-everything.
func everything(t *testing.T, o conn.Options) *conn.Conn {
	t.Helper()
	script, err := filepath.Abs("../.peers/node_modules/@modelcontextprotocol/server-everything/dist/index.js")
	require.NoError(t, err)
	if _, err := os.Stat(script); err != nil {
		missing(t, "server-everything is not installed", err)
	}
	return spawn(t, o, script, "stdio")
}

func TestServerEverything(t *testing.T) {
	c := everything(t, conn.Options{})

	// The modern probe is refused; so says an error of the server, not a hang.
	_, err := conn.Call[map[string]any](t.Context(), c, "server/discover", map[string]any{}, conn.CallOptions{})
	require.Error(t, err)
	require.NotErrorIs(t, err, conn.ErrTimeout)

	info := initialize(t, c)["serverInfo"].(map[string]any)
	require.Equal(t, "mcp-servers/everything", info["name"])

	tools, err := conn.Call[struct{ Tools []struct{ Name string } }](t.Context(), c, "tools/list", nil, conn.CallOptions{})
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(tools.Tools), 10)

	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			got, err := tool(t, c, "echo", map[string]any{"message": fmt.Sprint("grüße ", i)}, conn.CallOptions{})
			if err != nil || got != fmt.Sprint("Echo: grüße ", i) {
				t.Errorf("call %d: %q, %v", i, got, err)
			}
		})
	}
	wg.Wait()

	var reports []float64
	_, err = conn.Call[toolResult](t.Context(), c, "tools/call",
		call("trigger-long-running-operation", map[string]any{"duration": 0.4, "steps": 4}),
		conn.CallOptions{Progress: func(p conn.Progress) {
			if report, err := p.Report(); err == nil {
				reports = append(reports, report.Progress)
			}
		}})
	require.NoError(t, err)
	require.NotEmpty(t, reports)
	require.IsIncreasing(t, append([]float64{-1}, reports...))

	require.NoError(t, c.Close())
	_, err = conn.Call[map[string]any](t.Context(), c, "tools/list", nil, conn.CallOptions{})
	require.ErrorIs(t, err, conn.ErrClosed)
}

// A server that does not survive its start says why.
func TestNodeThatFails(t *testing.T) {
	c := spawn(t, conn.Options{}, "-e", "throw new Error('no luck today')")
	_, err := conn.Call[map[string]any](t.Context(), c, "initialize", map[string]any{}, conn.CallOptions{})
	gone, ok := errors.AsType[*conn.PeerGone](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, 1, gone.ExitCode)
	require.Contains(t, string(gone.StderrTail), "no luck today")
}
