package conn_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// adder is the peer of the examples: it adds, slowly if asked to.
var adder = conn.HandlerFunc(func(ctx context.Context, r *conn.Inbound) {
	switch r.Method() {
	case "add":
		var terms []int
		if codec.DecodeValue(r.Params(), &terms) != nil {
			_ = r.ReplyError(&codec.Error{Code: codec.CodeInvalidParams, Message: "want a list of integers"})
			return
		}
		sum := 0
		for _, n := range terms {
			sum += n
		}
		_ = r.Reply(fmt.Append(nil, sum))
	case "sleep":
		<-ctx.Done() // the caller gave up
	default:
		_ = r.ReplyError(&codec.Error{Code: codec.CodeMethodNotFound, Message: "no such method"})
	}
})

// pair connects a client to the adder, in memory.
func pair() (client *conn.Conn, end func()) {
	ours, theirs := net.Pipe()
	server, err := conn.New(theirs, conn.Options{Handler: adder})
	if err != nil {
		panic(err)
	}
	client, err = conn.New(ours, conn.Options{})
	if err != nil {
		panic(err)
	}
	return client, func() {
		_ = client.Close()
		<-client.Done()
		<-server.Done()
	}
}

func Example() {
	client, end := pair()
	defer end()
	ctx := context.Background()

	result, err := client.Call(ctx, "add", []byte(`[1,2,3]`), conn.CallOptions{Timeout: time.Second})
	fmt.Println(string(result), err)

	_, err = client.Call(ctx, "add", []byte(`"one"`), conn.CallOptions{})
	refused, ok := errors.AsType[*codec.Error](err)
	fmt.Println(refused.Code, refused.Message, ok)

	_, err = client.Call(ctx, "sleep", nil, conn.CallOptions{Timeout: 10 * time.Millisecond})
	fmt.Println(errors.Is(err, conn.ErrTimeout), errors.Is(err, context.DeadlineExceeded))
	// Output:
	// 6 <nil>
	// -32602 want a list of integers true
	// true true
}

// A typed call encodes its params and decodes its result.
func ExampleCall() {
	client, end := pair()
	defer end()
	sum, err := conn.Call[int](context.Background(), client, "add", []int{40, 2}, conn.CallOptions{})
	fmt.Println(sum, err)
	// Output: 42 <nil>
}

func ExampleConn_Start() {
	client, end := pair()
	defer end()
	done := make(chan string)
	_, err := client.Start(context.Background(), "add", []byte(`[20,22]`), conn.CallOptions{}, func(o conn.Outcome) {
		done <- string(o.Value) // a copy: o.Value is borrowed
	})
	fmt.Println(<-done, err)
	// Output: 42 <nil>
}

func ExampleConn_Submit() {
	client, end := pair()
	defer end()
	sums := make([]string, 3)
	settled := make(chan struct{}, len(sums))
	var batch []conn.Request
	for i := range sums {
		batch = append(batch, conn.Request{
			Method: "add",
			Params: fmt.Appendf(nil, "[%d,100]", i),
			Notify: func(o conn.Outcome) {
				sums[i] = string(o.Value)
				settled <- struct{}{}
			},
		})
	}
	accepted, err := client.Submit(context.Background(), batch)
	for range accepted {
		<-settled
	}
	fmt.Println(accepted, err, sums)
	// Output: 3 <nil> [100 101 102]
}

// A call that failed before it was sent is safe to make again.
func ExampleSent() {
	client, end := pair()
	end()
	_, err := client.Call(context.Background(), "add", []byte(`[1]`), conn.CallOptions{})
	sent, known := conn.Sent(err)
	fmt.Println(errors.Is(err, conn.ErrClosed), sent, known)
	// Output: true false true
}

// Progress comes in order and before the result.
func ExampleCallOptions_progress() {
	ours, theirs := net.Pipe()
	server, err := conn.New(theirs, conn.Options{Handler: conn.HandlerFunc(func(ctx context.Context, r *conn.Inbound) {
		for i := 1; i <= 3; i++ {
			note := fmt.Appendf(nil, `{"progressToken":%s,"progress":%d,"total":3}`, r.Message().Token(), i)
			_ = r.Conn().Notify(ctx, "notifications/progress", note)
			_ = r.Conn().Flush(ctx)
		}
		_ = r.Reply([]byte(`"done"`))
	})})
	if err != nil {
		panic(err)
	}
	client, err := conn.New(ours, conn.Options{})
	if err != nil {
		panic(err)
	}
	last := 0.0
	result, err := client.Call(context.Background(), "work", nil, conn.CallOptions{Progress: func(p conn.Progress) {
		if report, err := p.Report(); err == nil {
			last = report.Progress // a slow handler sees fewer, always the last
		}
	}})
	fmt.Println(string(result), err, last)
	_ = client.Close()
	<-server.Done()
	// Output: "done" <nil> 3
}

// A handler that passes requests on detaches them and answers from elsewhere.
func ExampleInbound_Detach() {
	backlog := make(chan *conn.Inbound, 16)
	ours, theirs := net.Pipe()
	server, err := conn.New(theirs, conn.Options{Handler: conn.HandlerFunc(func(_ context.Context, r *conn.Inbound) {
		r.Detach()
		backlog <- r
	})})
	if err != nil {
		panic(err)
	}
	go func() {
		for r := range backlog {
			_ = r.TryReply(r.Params())
		}
	}()
	client, err := conn.New(ours, conn.Options{})
	if err != nil {
		panic(err)
	}
	result, err := client.Call(context.Background(), "echo", []byte(`{"a":1}`), conn.CallOptions{})
	fmt.Println(string(result), err)
	_ = client.Close()
	<-server.Done()
	close(backlog)
	// Output: {"a":1} <nil>
}

// Drain lets what is in flight end, and then closes.
func ExampleConn_Drain() {
	client, end := pair()
	defer end()
	done := make(chan string, 1)
	_, _ = client.Start(context.Background(), "add", []byte(`[1,1]`), conn.CallOptions{}, func(o conn.Outcome) { done <- string(o.Value) })
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	fmt.Println(client.Drain(ctx), <-done, errors.Is(client.Err(), conn.ErrClosed))
	// Output: <nil> 2 true
}
