package interop

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/mcp"
)

// Our client on server-everything, of the older era.
func TestClientOnServerEverything(t *testing.T) {
	const name = "@modelcontextprotocol/server-everything"
	script := filepath.Join(packages(t, name), "node_modules", name, "dist/index.js")
	const uri = "demo://resource/static/document/architecture.md"
	a := abilities{
		server: "mcp-servers/everything",
		double: func(i int) (toolCall, string) {
			return toolCall{"echo", map[string]any{"message": fmt.Sprint("grüße ", i)}}, fmt.Sprint("Echo: grüße ", i)
		},
		steps: toolCall{"trigger-long-running-operation", map[string]any{"duration": 0.4, "steps": 4}}, stepsEnd: 4,
		long:    toolCall{"trigger-long-running-operation", map[string]any{"duration": 600, "steps": 3000}},
		watch:   mcp.ListenFilter{ResourceSubscriptions: []string{uri}},
		change:  toolCall{"toggle-subscriber-updates", nil},
		settle:  true, // the next call turns it off again
		changed: mcp.Notification{Kind: mcp.ResourceUpdated, URI: uri},
	}
	for name, era := range map[string]client.Era{"auto": client.EraAuto, "older": client.EraLegacy} {
		t.Run(name, func(t *testing.T) {
			child := conn.Command{Path: node(t), Args: []string{script, "stdio"}}
			exercise(t, client.Command(child), client.Options{Era: era}, "2025-11-25", a)
		})
	}
}

// Our client on a server of the TypeScript SDK, version 2, in both eras, over stdio
// and HTTP.
func TestClientOnTypeScriptServer(t *testing.T) {
	folder := packages(t, "@modelcontextprotocol/server")
	a := abilities{
		server: "workshop.mjs",
		double: func(i int) (toolCall, string) { return toolCall{"double", numbered{N: i}}, fmt.Sprint(2 * i) },
		steps:  toolCall{"steps", numbered{N: 20}}, stepsEnd: 20,
		long:    toolCall{"linger", numbered{}},
		watch:   mcp.ListenFilter{ToolsListChanged: true},
		change:  toolCall{"touch", numbered{}},
		changed: mcp.Notification{Kind: mcp.ToolsChanged},
	}
	for _, try := range []struct {
		name string
		era  client.Era
		want mcp.Revision
	}{
		{"auto", client.EraAuto, "2026-07-28"},
		{"modern", client.EraModern, "2026-07-28"},
		{"older", client.EraLegacy, "2025-11-25"},
	} {
		t.Run(try.name+" stdio", func(t *testing.T) {
			child := conn.Command{Path: node(t), Args: []string{"peers/serve.mjs", folder, "stdio"}}
			exercise(t, client.Command(child), client.Options{Era: try.era}, try.want, a)
		})
		t.Run(try.name+" HTTP", func(t *testing.T) {
			a := a
			if try.era == client.EraLegacy {
				a.change = toolCall{} // it serves the older era without sessions, and so without news
			}
			url := start(t, exec.Command(node(t), "peers/serve.mjs", folder, "http"))
			exercise(t, client.HTTP{Endpoint: url}, client.Options{Era: try.era}, try.want, a)
		})
	}
}
