package mcp_test

import (
	"context"
	"fmt"

	"github.com/correlator-go/correlator/mcp"
)

type sumIn struct {
	A int `json:"a" jsonschema:"the one"`
	B int `json:"b" jsonschema:"the other"`
}

type sumOut struct {
	Sum int `json:"sum"`
}

// A server with one tool, and what one call makes of its connection. A front end
// does what the effects say; here that is printing them.
func Example() {
	server, err := mcp.NewServer(mcp.Description{
		Info: mcp.Implementation{Name: "calculator", Version: "1.0.0"},
		Tools: []mcp.ServerTool{
			mcp.NewTool(mcp.Tool{Name: "add", Description: "Adds two numbers."},
				func(_ context.Context, _ *mcp.Request, in sumIn) (sumOut, error) {
					return sumOut{Sum: in.A + in.B}, nil
				}),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	state := mcp.Init(server, mcp.Options{})
	var perform func(effects []mcp.Effect)
	perform = func(effects []mcp.Effect) {
		for _, e := range effects {
			switch e.Kind {
			case mcp.Admitted:
				fmt.Println("admitted", e.Method)
			case mcp.Start:
				fmt.Println("start", e.Run.Tool(), string(e.Run.Arguments()))
				perform(mcp.Step(state, mcp.Perform(context.Background(), e.Run, nil), nil))
			case mcp.Write:
				fmt.Println("write", string(e.Frame))
			case mcp.Close:
				fmt.Println("close")
			}
		}
	}
	perform(mcp.Step(state, mcp.Received{
		Exchange: mcp.NewExchangeID(),
		Frame: []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3},"_meta":{` +
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`),
	}, nil))
	// Output:
	// admitted tools/call
	// start add {"a":2,"b":3}
	// write {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"{\"sum\":5}"}],"structuredContent":{"sum":5},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"calculator","version":"1.0.0"}}}}
	// close
}

// A handler that needs something from the user returns what it asks, and runs again
// with the answer. In the older era the question is a request of our own.
func ExampleInputRequired() {
	greet := func(_ context.Context, r *mcp.Request, _ struct{}) (string, error) {
		if answer, ok := r.Input("name"); ok {
			return "Hello, " + string(answer), nil
		}
		return "", &mcp.InputRequired{Requests: map[string]mcp.InputRequest{
			"name": mcp.Elicit(mcp.ElicitParams{Message: "Who are you?"}),
		}}
	}
	server, err := mcp.NewServer(mcp.Description{
		Info:  mcp.Implementation{Name: "greeter", Version: "1.0.0"},
		Tools: []mcp.ServerTool{mcp.NewTool(mcp.Tool{Name: "greet"}, greet)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	state := mcp.Init(server, mcp.Options{})
	receive := func(id mcp.ExchangeID, frame string) []mcp.Effect {
		return mcp.Step(state, mcp.Received{Exchange: id, Frame: []byte(frame)}, nil)
	}
	receive(1, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`)
	receive(2, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	started := receive(3, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"greet"}}`)[1]
	asked := mcp.Step(state, mcp.Perform(context.Background(), started.Run, nil), nil)[0]
	fmt.Println(asked.Kind, asked.Method, string(asked.Frame))
	again := mcp.Step(state, mcp.Answered{Invocation: asked.Invocation, Key: asked.Key, Result: []byte(`{"action":"accept"}`)}, nil)[0]
	fmt.Println(again.Kind, again.Run.Tool(), again.Run.Round())
	written := mcp.Step(state, mcp.Perform(context.Background(), again.Run, nil), nil)[0]
	fmt.Println(string(written.Frame))
	// Output:
	// ask elicitation/create {"message":"Who are you?"}
	// start greet 1
	// {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"Hello, {\"action\":\"accept\"}"}]}}
}
