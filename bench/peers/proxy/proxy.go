package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"strings"

	mcpgoclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	mcpgo "github.com/mark3labs/mcp-go/mcp"
	mcpgoserver "github.com/mark3labs/mcp-go/server"
	gosdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Names of the proxies.
const (
	GoSDK = "go-sdk"
	MCPGo = "mcp-go"
)

// Tool is the tool that is passed on.
const Tool = "echo"

// ErrUnknown: there is no such proxy.
var ErrUnknown = errors.New("proxy: no such proxy")

// Serve is the proxy of that name, for the clients that l accepts, to the server at
// the other end of upstream. It returns when l is closed.
func Serve(ctx context.Context, name string, l net.Listener, upstream io.ReadWriteCloser) error {
	var serve func(net.Conn)
	switch name {
	case GoSDK:
		session, err := gosdk.NewClient(&gosdk.Implementation{Name: "proxy", Version: "1"}, nil).
			Connect(ctx, &gosdk.IOTransport{Reader: upstream, Writer: upstream}, nil)
		if err != nil {
			return err
		}
		serve = func(c net.Conn) { serveGoSDK(ctx, session, c) }
	case MCPGo:
		client := mcpgoclient.NewClient(transport.NewIO(upstream, upstream, io.NopCloser(strings.NewReader(""))))
		if err := client.Start(ctx); err != nil {
			return err
		}
		hello := mcpgo.InitializeRequest{}
		hello.Params.ProtocolVersion = mcpgo.LATEST_PROTOCOL_VERSION
		hello.Params.ClientInfo = mcpgo.Implementation{Name: "proxy", Version: "1"}
		if _, err := client.Initialize(ctx, hello); err != nil {
			return err
		}
		serve = func(c net.Conn) { serveMCPGo(ctx, client, c) }
	default:
		return fmt.Errorf("%w: %s", ErrUnknown, name)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go serve(c)
	}
}

func serveGoSDK(ctx context.Context, upstream *gosdk.ClientSession, c net.Conn) {
	defer c.Close()
	s := gosdk.NewServer(&gosdk.Implementation{Name: "proxy", Version: "1"}, nil)
	s.AddTool(&gosdk.Tool{Name: Tool, InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, r *gosdk.CallToolRequest) (*gosdk.CallToolResult, error) {
			return upstream.CallTool(ctx, &gosdk.CallToolParams{Name: r.Params.Name, Arguments: r.Params.Arguments})
		})
	_ = s.Run(ctx, &gosdk.IOTransport{Reader: c, Writer: c}) // its client has gone
}

func serveMCPGo(ctx context.Context, upstream *mcpgoclient.Client, c net.Conn) {
	defer c.Close()
	s := mcpgoserver.NewMCPServer("proxy", "1")
	s.AddTool(mcpgo.NewTool(Tool, mcpgo.WithString("message")), func(ctx context.Context, r mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		call := mcpgo.CallToolRequest{}
		call.Params.Name, call.Params.Arguments = r.Params.Name, r.Params.Arguments
		return upstream.CallTool(ctx, call)
	})
	stdio := mcpgoserver.NewStdioServer(s)
	stdio.SetErrorLogger(log.New(io.Discard, "", 0))
	_ = stdio.Listen(ctx, c, c) // its client has gone
}
