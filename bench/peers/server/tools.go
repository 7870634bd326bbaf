package server

import (
	"context"
	"encoding/json"
	"io"
	"log"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	mcpgoserver "github.com/mark3labs/mcp-go/server"
	gosdk "github.com/modelcontextprotocol/go-sdk/mcp"

	ours "github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// The servers that are contenders themselves: this project's and those of the MCP
// SDKs. Each has [Tool], which returns its argument "message" as text, made in the
// way that costs its library least: raw arguments and no schema to check them by
// where there is a choice.
const (
	OurTools   = "tools-correlator"
	GoSDKTools = "tools-go-sdk"
	MCPGoTools = "tools-mcp-go"
)

// toolsLive is how many requests ours takes at once: what the rows have in flight
// and what the load may send before it has read that an answer made room.
const toolsLive = 4096

func ourTools(c io.ReadWriteCloser) error {
	echo := ours.ServerTool{
		Tool: ours.Tool{Name: Tool, InputSchema: json.RawMessage(`{"type":"object"}`)},
		Handle: func(_ context.Context, r *ours.Request) (*ours.ToolResult, error) {
			return ours.ToolText(unquoted(r.Arguments())), nil
		},
	}
	d, err := ours.NewServer(ours.Description{Info: ours.Implementation{Name: "echo", Version: "1"}, Tools: []ours.ServerTool{echo}})
	if err != nil {
		return err
	}
	s, err := serve.New(d, serve.Options{MaxLive: toolsLive})
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Serve(context.Background(), c)
}

func goSDKTools(c io.ReadWriteCloser) error {
	s := gosdk.NewServer(&gosdk.Implementation{Name: "echo", Version: "1"}, nil)
	s.AddTool(&gosdk.Tool{Name: Tool, InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, r *gosdk.CallToolRequest) (*gosdk.CallToolResult, error) {
			return &gosdk.CallToolResult{Content: []gosdk.Content{&gosdk.TextContent{Text: unquoted(r.Params.Arguments)}}}, nil
		})
	return s.Run(context.Background(), &gosdk.IOTransport{Reader: c, Writer: c})
}

// mcpGoTools keeps to the defaults of a stdio server, since neither more workers nor
// a longer queue made it faster, and drops what it would log of its full queue.
func mcpGoTools(c io.ReadWriteCloser) error {
	defer c.Close()
	s := mcpgoserver.NewMCPServer("echo", "1")
	s.AddTool(mcpgo.NewTool(Tool, mcpgo.WithString("message")), func(_ context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		return mcpgo.NewToolResultText(r.GetString("message", "")), nil
	})
	stdio := mcpgoserver.NewStdioServer(s)
	stdio.SetErrorLogger(log.New(io.Discard, "", 0))
	return stdio.Listen(context.Background(), c, c)
}

// unquoted is the text of [message].
func unquoted(arguments []byte) string {
	text := message(arguments)
	return string(text[1 : len(text)-1])
}
