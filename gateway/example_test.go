package gateway_test

import (
	"context"
	"fmt"
	"net"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/gateway/upstream"
	"github.com/correlator-go/correlator/internal/echo"
)

// Two clients share one server. Here all three are in this process.
func Example() {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = server.Close() }()
	go func() {
		if c, err := server.Accept(); err == nil {
			_ = echo.Serve(c, echo.Options{})
		}
	}()

	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{
		Name: "echo", Opener: upstream.Dial("tcp", server.Addr().String(), conn.Options{}), Isolation: gateway.Shared, Plain: true,
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = g.Close() }()

	for _, name := range []string{"ann", "bob"} {
		ours, theirs := net.Pipe()
		go func() { _ = downstream.Serve(context.Background(), g, theirs, "pipe", downstream.Options{}) }()
		client, err := conn.New(ours, conn.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer func() { _ = client.Close() }()
		greeting, err := client.Call(context.Background(), "hello", []byte(`{"from":"`+name+`"}`), conn.CallOptions{})
		fmt.Println(string(greeting), err)
	}
	fmt.Println("answered:", g.Stats().Answered)
	// Output:
	// {"from":"ann"} <nil>
	// {"from":"bob"} <nil>
	// answered: 2
}
