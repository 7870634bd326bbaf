package main

import (
	"context"
	"fmt"
	"time"

	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// pause is how long the tools that take their time take for a step.
const pause = 50 * time.Millisecond

// wait waits for d, or until the call is cancelled.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// runningTools say something while they run.
func runningTools() []mcp.ServerTool {
	return []mcp.ServerTool{
		tool("test_tool_with_logging", "Logs three lines while it runs", logging),
		tool("test_tool_with_progress", "Reports progress while it runs", reporting),
		tool("test_logging_tool", "Logs a line", func(ctx context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
			if err := r.Log(ctx, mcp.LevelInfo, "everything", "a line"); err != nil {
				return nil, err
			}
			return mcp.ToolText("logged"), nil
		}),
		mcp.NewTool(mcp.Tool{Name: "trigger-long-running-operation", Description: "Takes its time and reports progress"}, longRunning),
		tool("test_reconnection", "Closes the stream that carries it, so that the client comes back for the answer", reconnection),
	}
}

func logging(ctx context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
	for i, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if i > 0 {
			if err := wait(ctx, pause); err != nil {
				return nil, err
			}
		}
		if err := r.Log(ctx, mcp.LevelInfo, "everything", line); err != nil {
			return nil, err
		}
	}
	return mcp.ToolText("Tool with logging executed successfully"), nil
}

func reporting(ctx context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
	for i, value := range []float64{0, 50, 100} {
		if i > 0 {
			if err := wait(ctx, pause); err != nil {
				return nil, err
			}
		}
		if err := r.Report(ctx, mcp.Progress{Value: value, Total: 100}); err != nil {
			return nil, err
		}
	}
	return mcp.ToolText("Tool with progress executed successfully"), nil
}

type operation struct {
	Duration float64 `json:"duration" jsonschema:"seconds it takes"`
	Steps    int     `json:"steps" jsonschema:"reports of progress on the way"`
}

func longRunning(ctx context.Context, r *mcp.Request, in operation) (string, error) {
	steps := min(max(in.Steps, 1), 1000)
	each := time.Duration(min(max(in.Duration, 0), 60) * float64(time.Second) / float64(steps))
	for i := 1; i <= steps; i++ {
		if err := wait(ctx, each); err != nil {
			return "", err
		}
		if err := r.Report(ctx, mcp.Progress{Value: float64(i), Total: float64(steps)}); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("Done: %v seconds, %d steps", in.Duration, steps), nil
}

func reconnection(ctx context.Context, _ *mcp.Request) (*mcp.ToolResult, error) {
	serve.CloseStream(ctx)
	if err := wait(ctx, 2*pause); err != nil {
		return nil, err
	}
	return mcp.ToolText("Reconnection test completed successfully"), nil
}
