package gosdk_test

import (
	"context"
	"fmt"
	"net"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/correlator-go/correlator/adapters/gosdk"
)

// A server and a client of go-sdk over one connection. For a child process it is
// gosdk.Stdio on the server's side and gosdk.Command on the client's.
func Example() {
	ctx := context.Background()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer listener.Close()
	go func() {
		server := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "1"}, nil)
		type input struct {
			Name string `json:"name"`
		}
		mcp.AddTool(server, &mcp.Tool{Name: "greet"}, func(_ context.Context, _ *mcp.CallToolRequest, in input) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hello, " + in.Name}}}, nil, nil
		})
		if c, err := listener.Accept(); err == nil {
			_ = server.Run(ctx, gosdk.Stream(c, gosdk.Options{}))
		}
	}()

	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
	session, err := client.Connect(ctx, gosdk.Dial("tcp", listener.Addr().String(), gosdk.Options{}), nil)
	if err != nil {
		panic(err)
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "greet", Arguments: map[string]any{"name": "Ada"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Content[0].(*mcp.TextContent).Text)
	// Output: Hello, Ada
}
