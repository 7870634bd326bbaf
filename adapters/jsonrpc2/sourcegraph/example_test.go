package sourcegraph_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/correlator-go/correlator/adapters/jsonrpc2/sourcegraph"
	"github.com/correlator-go/correlator/conn"
)

// greeter is a handler of the library; it does not change.
var greeter = jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
	if req.Method != "greet" {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "no " + req.Method}
	}
	return "Hello, " + string(*req.Params), nil
})

// greet uses a connection as an interface of the library; it does not change.
func greet(c jsonrpc2.JSONRPC2, method string) {
	var text string
	err := c.Call(context.Background(), method, []string{"Ada"}, &text)
	if e, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		fmt.Println(e.Code, e.Message)
		return
	}
	fmt.Println(text, err)
}

// The same conversation with the library's constructors and with these. Either end
// may be either.
func Example() {
	ctx := context.Background()
	near, far := net.Pipe()
	before := jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(near, jsonrpc2.VSCodeObjectCodec{}), nil)
	server := jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(far, jsonrpc2.VSCodeObjectCodec{}), greeter)
	greet(before, "greet")
	before.Close()
	<-server.DisconnectNotify()

	near, far = net.Pipe()
	after := sourcegraph.NewConn(ctx, sourcegraph.NewBufferedStream(near, jsonrpc2.VSCodeObjectCodec{}), nil)
	served := sourcegraph.NewConn(ctx, sourcegraph.NewBufferedStream(far, jsonrpc2.VSCodeObjectCodec{}), greeter)
	greet(after, "greet")
	greet(after, "shout")
	after.Close()
	<-served.DisconnectNotify()
	greet(after, "greet")
	// Output:
	// Hello, ["Ada"] <nil>
	// Hello, ["Ada"] <nil>
	// -32601 no shout
	//  jsonrpc2: connection is closed
}

// A timeout for every call, without a context.
func ExampleWith() {
	near, far := net.Pipe()
	defer far.Close()
	c := sourcegraph.NewConn(context.Background(), sourcegraph.NewLineStream(near), nil,
		sourcegraph.With(conn.Options{Timeout: time.Millisecond}))
	defer c.Close()
	err := c.Call(context.Background(), "greet", nil, nil) // nobody answers
	fmt.Println(errors.Is(err, conn.ErrTimeout), errors.Is(err, context.DeadlineExceeded))
	// Output: true true
}
