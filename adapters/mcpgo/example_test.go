package mcpgo_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/correlator-go/correlator/adapters/mcpgo"
)

// A client of mcp-go on a server behind a unix socket. For a child process the
// constructor is mcpgo.NewStdio, with the arguments of transport.NewStdio.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	address := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", address)
	if err != nil {
		panic(err)
	}
	defer listener.Close()
	go func() { // the server, mcp-go's as well
		s := server.NewMCPServer("greeter", "1")
		s.AddTool(mcp.NewTool("greet", mcp.WithString("name")), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("Hello, " + r.GetString("name", "")), nil
		})
		if c, err := listener.Accept(); err == nil {
			_ = server.NewStdioServer(s).Listen(context.Background(), c, c)
		}
	}()

	ctx := context.Background()
	c := client.NewClient(mcpgo.Dial("unix", address, mcpgo.Options{}))
	defer c.Close()
	if err := c.Start(ctx); err != nil {
		panic(err)
	}
	if _, err := c.Initialize(ctx, mcp.InitializeRequest{}); err != nil {
		panic(err)
	}
	request := mcp.CallToolRequest{}
	request.Params.Name = "greet"
	request.Params.Arguments = map[string]any{"name": "Ada"}
	result, err := c.CallTool(ctx, request)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Content[0].(mcp.TextContent).Text)
	// Output: Hello, Ada
}
