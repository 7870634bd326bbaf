package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"

	"github.com/correlator-go/correlator/adapters/lsp"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// A session, here with a server in the same process. With a real one the first line is
//
//	server, err := lsp.Spawn(ctx, conn.Command{Path: "gopls"}, options)
func Example() {
	ctx := context.Background()
	logged := make(chan string, 100)
	server, err := lsp.New(tinyServer(), lsp.Options{
		Settings: map[string]any{"tiny": map[string]bool{"shout": true}}, // for workspace/configuration
		OnNotification: map[string]lsp.NotificationHandler{
			"window/logMessage": lsp.HandleNotification(func(_ context.Context, p struct{ Message string }) error {
				logged <- p.Message
				return nil
			}),
		},
	})
	if err != nil {
		panic(err)
	}
	if _, err := server.Initialize(ctx, map[string]any{"rootUri": "file:///w"}, lsp.CallOptions{}); err != nil {
		panic(err)
	}
	type hover struct {
		Contents string `json:"contents"`
	}
	h, err := lsp.Call[*hover](ctx, server, "textDocument/hover", map[string]any{"position": map[string]int{"line": 3}}, lsp.CallOptions{})
	fmt.Println(h.Contents, err)
	fmt.Println(<-logged)
	if err := server.Shutdown(ctx); err != nil {
		panic(err)
	}
	// Output:
	// line 3 <nil>
	// hello, shout is true
}

// Partial results of a search, as they are found.
func ExampleClient_Call_partial() {
	ctx := context.Background()
	server, err := lsp.New(tinyServer(), lsp.Options{})
	if err != nil {
		panic(err)
	}
	if _, err := server.Initialize(ctx, nil, lsp.CallOptions{}); err != nil {
		panic(err)
	}
	_, err = server.Call(ctx, "workspace/symbol", map[string]string{"query": "F"}, lsp.CallOptions{
		Partial: func(symbols json.RawMessage) { fmt.Println("found", string(symbols)) },
	})
	fmt.Println("all", err)
	_ = server.Shutdown(ctx)
	// Output:
	// found ["F1"]
	// found ["F2"]
	// all <nil>
}

// tinyServer is a language server, as far as the examples go.
func tinyServer() net.Conn {
	near, far := net.Pipe()
	_, err := conn.New(far, conn.Options{
		Profile: codec.LSP, Framer: codec.HeaderFramer{},
		Handler: conn.HandlerFunc(func(ctx context.Context, r *conn.Inbound) {
			switch c := r.Conn(); r.Method() {
			case "initialize":
				_ = r.Reply([]byte(`{"capabilities":{}}`))
			case "textDocument/hover":
				settings, _ := c.Call(ctx, "workspace/configuration", []byte(`{"items":[{"section":"tiny"}]}`), conn.CallOptions{})
				var got []struct{ Shout bool }
				var asked struct{ Position struct{ Line int } }
				_, _ = json.Unmarshal(settings, &got), json.Unmarshal(r.Params(), &asked)
				_ = c.Notify(ctx, "window/logMessage", fmt.Appendf(nil, `{"type":4,"message":"hello, shout is %v"}`, got[0].Shout))
				_ = r.Reply(fmt.Appendf(nil, `{"contents":"line %d"}`, asked.Position.Line))
			case "workspace/symbol":
				var asked struct{ PartialResultToken string }
				_ = json.Unmarshal(r.Params(), &asked)
				for i := 1; i <= 2; i++ {
					_ = c.Notify(ctx, "$/progress", fmt.Appendf(nil, `{"token":%q,"value":["F%d"]}`, asked.PartialResultToken, i))
				}
				_ = r.Reply([]byte("[]"))
			case "shutdown":
				_ = r.Reply(nil)
			case "exit":
				go c.Close()
			}
		}),
	})
	if err != nil {
		panic(err)
	}
	return near
}
