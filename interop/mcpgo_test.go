package interop

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/mcp"
)

// newMCPGo is a server of mark3labs/mcp-go with the tools of the workshop that our
// client's tests need. heard is told when linger was cancelled. steps waits until
// its last report was seen: a goroutine of its own writes those, and the answer may
// go before them.
func newMCPGo(heard chan<- string, seen <-chan float64) *server.MCPServer {
	s := server.NewMCPServer("mcp-go", "1", server.WithToolCapabilities(true))
	report := func(ctx context.Context, r mcpgo.CallToolRequest, value int) error {
		return s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progressToken": r.Params.Meta.ProgressToken, "progress": value, "total": 20,
		})
	}
	s.AddTool(mcpgo.NewTool("double", mcpgo.WithNumber("n")), func(_ context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		return mcpgo.NewToolResultText(fmt.Sprint(2 * r.GetInt("n", 0))), nil
	})
	s.AddTool(mcpgo.NewTool("steps", mcpgo.WithNumber("n")), func(ctx context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		for i := range r.GetInt("n", 0) {
			if err := report(ctx, r, i+1); err != nil {
				return nil, err
			}
		}
		for value := range seen {
			if int(value) == r.GetInt("n", 0) {
				break
			}
		}
		return mcpgo.NewToolResultText("done"), nil
	})
	s.AddTool(mcpgo.NewTool("linger"), func(ctx context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		if err := report(ctx, r, 1); err != nil {
			return nil, err
		}
		<-ctx.Done()
		heard <- "cancelled"
		return nil, ctx.Err()
	})
	s.AddTool(mcpgo.NewTool("touch"), func(context.Context, mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		s.SendNotificationToAllClients(mcpgo.MethodNotificationToolsListChanged, nil)
		return mcpgo.NewToolResultText("touched"), nil
	})
	return s
}

// Our client on the server of mcp-go, over a stream and HTTP.
func TestClientOnMCPGoServer(t *testing.T) {
	able := func(heard <-chan string, seen chan<- float64) abilities {
		return abilities{
			server: "mcp-go",
			double: func(i int) (toolCall, string) { return toolCall{"double", numbered{N: i}}, fmt.Sprint(2 * i) },
			steps:  toolCall{"steps", numbered{N: 20}}, stepsEnd: 20, stepped: func(value float64) { seen <- value },
			unordered: true, // over HTTP with sessions: two goroutines write them, on two streams
			long:      toolCall{"linger", numbered{}}, heard: heard,
			// It tells nobody of single resources unless the program does it.
			watch:   mcp.ListenFilter{ToolsListChanged: true},
			change:  toolCall{"touch", numbered{}},
			changed: mcp.Notification{Kind: mcp.ToolsChanged},
		}
	}
	for era, want := range map[client.Era]mcp.Revision{client.EraAuto: "2026-07-28", client.EraLegacy: "2025-11-25"} {
		t.Run(fmt.Sprint("stream ", want), func(t *testing.T) {
			heard, seen := make(chan string, 10), make(chan float64, 20)
			ours, theirs := pipes()
			ctx, stop := context.WithCancel(context.Background())
			done := make(chan struct{})
			go func() {
				defer close(done)
				_ = server.NewStdioServer(newMCPGo(heard, seen)).Listen(ctx, theirs.ReadCloser, theirs.WriteCloser)
			}()
			t.Cleanup(func() {
				stop()
				_ = ours.Close()
				<-done
			})
			exercise(t, client.Stream(ours), client.Options{Era: era}, want, able(heard, seen))
		})
		t.Run(fmt.Sprint("HTTP ", want), func(t *testing.T) {
			heard, seen := make(chan string, 10), make(chan float64, 20)
			web := httptest.NewServer(server.NewStreamableHTTPServer(newMCPGo(heard, seen)))
			t.Cleanup(web.Close)
			exercise(t, client.HTTP{Endpoint: web.URL}, client.Options{Era: era}, want, able(heard, seen))
		})
	}
}
