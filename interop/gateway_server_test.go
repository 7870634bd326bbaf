package interop

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// crowdServer is the value of serveEnv that makes the test program the server below.
const crowdServer = "crowd"

// newCrowdServer is a go-sdk server with two tools of server-everything, so that the
// same clients can use either, and one that tells which operations were stopped.
func newCrowdServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "crowd", Version: "1"}, nil)
	var mu sync.Mutex
	var stopped []int
	type message struct {
		Message string `json:"message"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in message) (*mcp.CallToolResult, any, error) {
		return text("Echo: %s", in.Message), nil, nil
	})
	type operation struct {
		Duration float64 `json:"duration"`
		Steps    int     `json:"steps"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "trigger-long-running-operation"}, func(ctx context.Context, r *mcp.CallToolRequest, in operation) (*mcp.CallToolResult, any, error) {
		for i := range in.Steps {
			select {
			case <-time.After(time.Duration(in.Duration / float64(in.Steps) * float64(time.Second))):
			case <-ctx.Done():
				mu.Lock()
				defer mu.Unlock()
				stopped = append(stopped, in.Steps)
				return nil, nil, ctx.Err()
			}
			if token := r.Params.GetProgressToken(); token != nil {
				_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(i + 1), Total: float64(in.Steps)})
			}
		}
		return text("Long running operation completed. Duration: %v seconds, Steps: %d.", in.Duration, in.Steps), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "stopped"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(stopped)
		return text("%s", fmt.Sprint(stopped)), nil, nil
	})
	return s
}
