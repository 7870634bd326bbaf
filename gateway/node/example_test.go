package node_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/correlator-go/correlator/gateway/config"
	"github.com/correlator-go/correlator/gateway/node"
)

func ExampleNode() {
	c, err := config.Parse("gateway.yaml", []byte(`
listen: ["http://127.0.0.1:0/mcp"]
upstreams:
  tools: {url: "tcp://127.0.0.1:9", isolation: shared}
`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	n, err := node.New(c, node.Options{Ready: func(r node.Ready) {
		go func() {
			answer, err := http.Get(strings.TrimSuffix(r.Clients[0], "mcp") + "readyz")
			if err == nil {
				fmt.Println(answer.Status)
				_ = answer.Body.Close()
			}
			stop()
		}()
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(n.Run(ctx))
	// Output:
	// 200 OK
	// <nil>
}
