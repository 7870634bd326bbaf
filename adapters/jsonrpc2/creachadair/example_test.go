package creachadair_test

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/creachadair/jrpc2/handler"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/creachadair"
)

// caller is what a program uses of a client, of either library.
type caller interface {
	CallResult(ctx context.Context, method string, params, result any) error
}

func greet(c caller, method string) {
	var text string
	err := c.CallResult(context.Background(), method, []string{"Ada"}, &text)
	if e, ok := errors.AsType[*jrpc2.Error](err); ok {
		fmt.Println(e.Code.String())
		return
	}
	fmt.Println(text, err)
}

// The same calls with the library's client and with this one, to the library's
// server.
func Example() {
	greeter := handler.Map{"greet": handler.New(func(_ context.Context, names []string) string { return "Hello, " + names[0] })}

	near, far := net.Pipe()
	server := jrpc2.NewServer(greeter, nil).Start(channel.Line(far, far))
	before := jrpc2.NewClient(channel.Line(near, near), &jrpc2.ClientOptions{OnNotify: func(*jrpc2.Request) {}})
	greet(before, "greet")
	before.Close()
	server.Wait()

	near, far = net.Pipe()
	server = jrpc2.NewServer(greeter, nil).Start(channel.Line(far, far))
	after := creachadair.NewClient(creachadair.Line(near, near), &creachadair.ClientOptions{OnNotify: func(*jrpc2.Request) {}})
	greet(after, "greet")
	greet(after, "shout")
	rs, err := after.Batch(context.Background(), []jrpc2.Spec{
		{Method: "greet", Params: []string{"Bea"}}, {Method: "greet", Params: []string{"Cyd"}},
	})
	fmt.Println(rs[0].ResultString(), rs[1].ResultString(), err)
	fmt.Println(after.Close(), server.Wait())
	// Output:
	// Hello, Ada <nil>
	// Hello, Ada <nil>
	// method not found
	// "Hello, Bea" "Hello, Cyd" <nil>
	// <nil> <nil>
}
