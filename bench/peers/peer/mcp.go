package peer

import (
	"context"
	"io"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	mcpgo "github.com/mark3labs/mcp-go/mcp"
	gosdk "github.com/modelcontextprotocol/go-sdk/mcp"

	ourgosdk "github.com/correlator-go/correlator/adapters/gosdk"
	ourmcpgo "github.com/correlator-go/correlator/adapters/mcpgo"
	"github.com/correlator-go/correlator/bench/peers/server"
	"github.com/correlator-go/correlator/conn"
)

// The MCP SDKs have no way in below a typed tools/call, which is what their users
// make. Arguments are encoded already. The answer is one text.

// sdkClients are the SDKs' clients over their own transports, and over ours: the same
// client, the same server, the same calls.
var (
	goSDK = Peer{Name: GoSDK, Class: JSON, Server: server.MCP, Timeouts: "context", Open: openGoSDK(func(stream io.ReadWriteCloser) gosdk.Transport {
		return &gosdk.IOTransport{Reader: stream, Writer: stream}
	})}
	goSDKAdapted = Peer{Name: GoSDKAdapted, Class: Adapted, Server: server.MCP, Timeouts: "context", Open: openGoSDK(func(stream io.ReadWriteCloser) gosdk.Transport {
		return ourgosdk.Stream(stream, ourgosdk.Options{})
	})}
	mcpGo = Peer{Name: MCPGo, Class: JSON, Server: server.MCP, Timeouts: "context", Open: openMCPGo(func(stream io.ReadWriteCloser) transport.Interface {
		return transport.NewIO(stream, stream, io.NopCloser(strings.NewReader("")))
	})}
	mcpGoAdapted = Peer{Name: MCPGoAdapted, Class: Adapted, Server: server.MCP, Timeouts: "context", Open: openMCPGo(func(stream io.ReadWriteCloser) transport.Interface {
		return ourmcpgo.Stream(stream, ourmcpgo.Options{Conn: conn.Options{MaxPending: maxPending}})
	})}
)

// openGoSDK opens go-sdk's client over a transport.
func openGoSDK(over func(io.ReadWriteCloser) gosdk.Transport) func(Link) (Client, error) {
	return func(link Link) (Client, error) {
		stream, err := link.Dial()
		if err != nil {
			return Client{}, err
		}
		c := gosdk.NewClient(&gosdk.Implementation{Name: "peers", Version: "1"}, nil)
		session, err := c.Connect(context.Background(), over(stream), nil)
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
	}
}

// openMCPGo opens mcp-go's client over a transport.
func openMCPGo(over func(io.ReadWriteCloser) transport.Interface) func(Link) (Client, error) {
	return func(link Link) (Client, error) {
		stream, err := link.Dial()
		if err != nil {
			return Client{}, err
		}
		c := client.NewClient(over(stream))
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
	}
}
