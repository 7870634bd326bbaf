package netrpc_test

import (
	"fmt"
	"net"
	"net/rpc"
	"net/rpc/jsonrpc"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/netrpc"
)

// Greeter is a service of net/rpc; it does not change.
type Greeter struct{}

// Greet greets.
func (Greeter) Greet(name string, reply *string) error {
	if name == "" {
		return fmt.Errorf("nobody to greet")
	}
	*reply = "Hello, " + name
	return nil
}

func greet(c *rpc.Client) {
	defer c.Close()
	var text string
	fmt.Println(c.Call("Greeter.Greet", "Ada", &text), text)
	err := c.Call("Greeter.Greet", "", &text)
	fmt.Printf("%T: %v\n", err, err)
}

// The same calls with the codec of net/rpc/jsonrpc and with this one.
func Example() {
	server := rpc.NewServer()
	if err := server.Register(Greeter{}); err != nil {
		panic(err)
	}

	near, far := net.Pipe()
	go server.ServeCodec(jsonrpc.NewServerCodec(far))
	greet(jsonrpc.NewClient(near)) // before

	near, far = net.Pipe()
	go server.ServeCodec(jsonrpc.NewServerCodec(far))
	greet(netrpc.NewClient(near)) // after
	// Output:
	// <nil> Hello, Ada
	// rpc.ServerError: nobody to greet
	// <nil> Hello, Ada
	// rpc.ServerError: nobody to greet
}
