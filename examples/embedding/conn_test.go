package embedding_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/engine"
)

// passOn is the handler of a gateway's clients: what they ask it asks the upstream,
// without a goroutine for each request. It runs on the reader (Options.Inline), so
// nothing in it waits.
func passOn(upstream *conn.Conn) conn.HandlerFunc {
	return func(ctx context.Context, r *conn.Inbound) {
		if r.IsNotification() {
			return
		}
		r.Detach() // the answer comes later, from the upstream's reader
		started := make(chan codec.ID, 1)
		stop := context.AfterFunc(ctx, func() { upstream.Cancel(<-started, context.Cause(ctx)) }) // the client withdrew it
		id, err := upstream.Start(ctx, r.Method(), r.Params(), conn.CallOptions{NoWait: true}, func(o conn.Outcome) {
			stop()
			refused, ok := errors.AsType[*codec.Error](o.Err)
			switch {
			case o.Err == nil:
				answered(r, r.TryReply(o.Value)) // which copies it
			case ok:
				answered(r, r.TryReplyError(refused)) // the upstream's own
			default:
				answered(r, r.TryReplyError(unavailable(o.Err)))
			}
		})
		started <- id
		if err != nil { // nothing was started, so nothing calls back
			stop()
			answered(r, r.TryReplyError(unavailable(err)))
		}
	}
}

// answered gives up a client that does not read: its write buffer is full of answers.
// Other errors say that it has withdrawn the request or gone.
func answered(r *conn.Inbound, err error) {
	if errors.Is(err, conn.ErrFull) {
		go r.Conn().Close() // which may take a moment
	}
}

// unavailable tells a client what became of its request, and whether it may ask
// again.
func unavailable(err error) *codec.Error {
	sent, known := conn.Sent(err)
	return &codec.Error{
		Code: codec.CodeInternal, Message: err.Error(),
		Data: fmt.Appendf(nil, `{"retry":%t}`, known && !sent),
	}
}

// upstreamOptions are those of a connection that carries what many clients ask.
func upstreamOptions() conn.Options {
	return conn.Options{
		MaxPending:  20_000,              // calls that wait for it, of some 110 bytes each
		Overflow:    engine.OverflowFail, // a full table is the client's to know, not ours to wait for
		WriteBuffer: 4 << 20,             // bytes that wait for an upstream that does not read
		MaxFrame:    1 << 20,             // of an answer
		MaxFrameOut: 1 << 20,             // of a request
		Timeout:     30 * time.Second,    // of a call in all; nothing moves it
	}
}

// clientOptions are those of a client's connection.
func clientOptions(upstream *conn.Conn) conn.Options {
	return conn.Options{
		Handler:        passOn(upstream),
		Inline:         true,
		MaxQueued:      256,     // requests of one client on their way; the next is answered "too many"
		MaxQueuedBytes: 8 << 20, // and what their frames weigh
	}
}

// Connections on both sides: a client's request passes through a gateway to an
// upstream, and so does its cancel.
func Example_conn() {
	withdrawn := make(chan struct{})
	upstreamNear, upstreamFar := net.Pipe()
	tools, err := conn.New(upstreamFar, conn.Options{Handler: conn.HandlerFunc(func(ctx context.Context, r *conn.Inbound) {
		if r.Method() == "sleep" {
			<-ctx.Done()
			close(withdrawn)
			return
		}
		_ = r.Reply(r.Params())
	})})
	if err != nil {
		panic(err)
	}
	upstream, err := conn.New(upstreamNear, upstreamOptions())
	if err != nil {
		panic(err)
	}
	clientNear, clientFar := net.Pipe()
	gateway, err := conn.New(clientFar, clientOptions(upstream))
	if err != nil {
		panic(err)
	}
	client, err := conn.New(clientNear, conn.Options{})
	if err != nil {
		panic(err)
	}

	ctx := context.Background()
	said, err := client.Call(ctx, "say", []byte(`{"text":"hello"}`), conn.CallOptions{})
	fmt.Println(string(said), err)

	_, err = client.Call(ctx, "sleep", nil, conn.CallOptions{Timeout: 20 * time.Millisecond})
	<-withdrawn
	fmt.Println(errors.Is(err, conn.ErrTimeout))

	_ = upstream.Close()
	_, err = client.Call(ctx, "say", nil, conn.CallOptions{})
	refused, _ := errors.AsType[*codec.Error](err)
	fmt.Println(string(refused.Data))

	_ = client.Close()
	for _, c := range []*conn.Conn{client, gateway, upstream, tools} {
		<-c.Done()
	}
	// Output:
	// {"text":"hello"} <nil>
	// true
	// {"retry":true}
}
