package client_test

import (
	"context"
	"fmt"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// A client of a server in the same process. client.Command starts one as a child
// process, client.HTTP reaches one over the network; the rest stays as it is.
func Example() {
	d, err := mcp.NewServer(mcp.Description{
		Info: mcp.Implementation{Name: "calculator", Version: "1"},
		Tools: []mcp.ServerTool{mcp.NewTool(mcp.Tool{Name: "add"}, func(_ context.Context, _ *mcp.Request, in sum) (total, error) {
			return total{in.A + in.B}, nil
		})},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := serve.New(d, serve.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()

	ctx := context.Background()
	c, err := client.Connect(ctx, client.Stream(s.InProcess(ctx)), client.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	for tool, err := range c.Tools(ctx) {
		fmt.Println(tool.Name, err)
	}
	r, err := c.CallTool(ctx, "add", sum{A: 40, B: 2}, client.CallOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := client.Structured[total](r)
	fmt.Println(answer.Sum, err)
	// Output:
	// add <nil>
	// 42 <nil>
}
