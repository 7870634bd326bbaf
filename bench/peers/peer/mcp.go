package peer

import (
	"context"
	"io"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	mcpgo "github.com/mark3labs/mcp-go/mcp"
	gosdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/correlator-go/correlator/bench/peers/server"
)

// The MCP SDKs have no way in below a typed tools/call, which is what their users
// make. Arguments are encoded already. The answer is one text.

var goSDK = Peer{
	Name: GoSDK, Class: JSON, Server: server.MCP, Timeouts: "context",
	Open: func(link Link) (Client, error) {
		stream, err := link.Dial()
		if err != nil {
			return Client{}, err
		}
		c := gosdk.NewClient(&gosdk.Implementation{Name: "peers", Version: "1"}, nil)
		session, err := c.Connect(context.Background(), &gosdk.IOTransport{Reader: stream, Writer: stream}, nil)
		if err != nil {
			return Client{}, err
		}
		return Client{
			Caller: func(w Work) (func() error, error) {
				params, want := &gosdk.CallToolParams{Name: w.Name, Arguments: w.arguments()}, []byte(w.Text)
				return func() error {
					ctx, cancel := w.context()
					defer cancel()
					result, err := session.CallTool(ctx, params)
					if err != nil {
						return err
					}
					if len(result.Content) != 1 {
						return ErrEcho
					}
					text, ok := result.Content[0].(*gosdk.TextContent)
					if !ok {
						return ErrEcho
					}
					return w.check([]byte(text.Text), want)
				}, nil
			},
			Close: session.Close,
		}, nil
	},
}

var mcpGo = Peer{
	Name: MCPGo, Class: JSON, Server: server.MCP, Timeouts: "context",
	Open: func(link Link) (Client, error) {
		stream, err := link.Dial()
		if err != nil {
			return Client{}, err
		}
		c := client.NewClient(transport.NewIO(stream, stream, io.NopCloser(strings.NewReader(""))))
		ctx := context.Background()
		if err := c.Start(ctx); err != nil {
			return Client{}, err
		}
		hello := mcpgo.InitializeRequest{}
		hello.Params.ProtocolVersion = mcpgo.LATEST_PROTOCOL_VERSION
		hello.Params.ClientInfo = mcpgo.Implementation{Name: "peers", Version: "1"}
		if _, err := c.Initialize(ctx, hello); err != nil {
			return Client{}, err
		}
		return Client{
			Caller: func(w Work) (func() error, error) {
				request, want := mcpgo.CallToolRequest{}, []byte(w.Text)
				request.Params.Name, request.Params.Arguments = w.Name, w.arguments()
				return func() error {
					ctx, cancel := w.context()
					defer cancel()
					result, err := c.CallTool(ctx, request)
					if err != nil {
						return err
					}
					if len(result.Content) != 1 {
						return ErrEcho
					}
					text, ok := result.Content[0].(mcpgo.TextContent)
					if !ok {
						return ErrEcho
					}
					return w.check([]byte(text.Text), want)
				}, nil
			},
			Close: c.Close,
		}, nil
	},
}
