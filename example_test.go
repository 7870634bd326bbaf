package correlator_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// Two programs share one connection: the one serves "add", the other calls it
// with a timeout that needs no context of its own, then asks for something that
// does not exist.
func Example() {
	near, far := net.Pipe()

	server, err := conn.New(far, conn.Options{
		Profile: codec.JSONRPC,
		Handler: conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) {
			var terms []int
			if r.Method() != "add" {
				r.ReplyError(&codec.Error{Code: codec.CodeMethodNotFound, Message: "no such method"})
				return
			}
			if err := codec.DecodeValue(r.Params(), &terms); err != nil {
				r.ReplyError(&codec.Error{Code: codec.CodeInvalidParams, Message: err.Error()})
				return
			}
			sum := 0
			for _, n := range terms {
				sum += n
			}
			r.Reply(fmt.Appendf(nil, "%d", sum))
		}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	client, err := conn.New(near, conn.Options{Profile: codec.JSONRPC, Timeout: 10 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	ctx := context.Background()
	sum, err := conn.Call[int](ctx, client, "add", []int{1, 2, 39}, conn.CallOptions{Timeout: time.Second})
	fmt.Println(sum, err)

	_, err = client.Call(ctx, "subtract", nil, conn.CallOptions{})
	if e, ok := errors.AsType[*codec.Error](err); ok {
		fmt.Println(e.Code, e.Message)
	}
	// Output:
	// 42 <nil>
	// -32601 no such method
}
