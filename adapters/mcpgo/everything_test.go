package mcpgo_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/mcpgo"
)

// everything is the script of server-everything. Without Node, or before "make
// peers", the test is skipped, or fails where peers are required.
func everything(t *testing.T) (node, script string) {
	t.Helper()
	script, err := filepath.Abs("../../.peers/node_modules/@modelcontextprotocol/server-everything/dist/index.js")
	require.NoError(t, err)
	node, err = exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(script)
	}
	if err != nil {
		if os.Getenv("CORRELATOR_REQUIRE_PEERS") == "1" {
			t.Fatal(err)
		}
		t.Skipf(`%v: this test needs Node and, once, "make peers"`, err)
	}
	return node, script
}

func TestServerEverything(t *testing.T) {
	node, script := everything(t)
	c := start(t, mcpgo.NewStdio(node, nil, script, "stdio"), client.WithSamplingHandler(sampler{}))
	tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(tools.Tools), 10)

	call := func(name string, token mcp.ProgressToken, arguments map[string]any) string {
		request := mcp.CallToolRequest{}
		request.Params.Name, request.Params.Arguments = name, arguments
		if token != nil {
			request.Params.Meta = &mcp.Meta{ProgressToken: token}
		}
		result, err := c.CallTool(t.Context(), request)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return ""
		}
		return result.Content[0].(mcp.TextContent).Text
	}
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			if got := call("echo", nil, map[string]any{"message": fmt.Sprint("grüße ", i)}); got != fmt.Sprint("Echo: grüße ", i) {
				t.Errorf("call %d: %q", i, got)
			}
		})
	}
	wg.Wait()

	var reports []float64
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Params.AdditionalFields["progressToken"] == "long" {
			reports = append(reports, n.Params.AdditionalFields["progress"].(float64))
		}
	})
	call("trigger-long-running-operation", "long", map[string]any{"duration": 0.4, "steps": 4})
	require.Equal(t, []float64{1, 2, 3, 4}, reports)

	require.Contains(t, call("trigger-sampling-request", nil, map[string]any{"prompt": "name?", "maxTokens": 10}), "echo of")
}
