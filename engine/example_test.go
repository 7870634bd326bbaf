package engine_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// A call is registered, the request goes out under its id, and whoever reads the
// answer settles it.
func Example() {
	e, err := engine.New(engine.Options[string]{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()

	ctx := context.Background()
	call, err := e.Begin(ctx, engine.CallOptions[string]{Method: "tools/call"})
	if err != nil {
		fmt.Println(err)
		return
	}
	go e.Resolve(call.ID(), "hello") // on the goroutine that reads answers

	fmt.Println(call.Wait(ctx))
	fmt.Println("again:", e.Resolve(call.ID(), "hello once more"))
	// Output:
	// hello <nil>
	// again: false
}

// With a manual clock a minute passes at once.
func ExampleManualClock() {
	clock := engine.NewManualClock()
	e, _ := engine.New(engine.Options[string]{Clock: clock})
	defer e.Close()

	call, _ := e.Begin(context.Background(), engine.CallOptions[string]{Method: "slow", Timeout: time.Minute})
	clock.Advance(time.Minute)
	fmt.Println("pending:", e.Len())
	clock.Advance(time.Millisecond)
	fmt.Println("pending:", e.Len())

	_, err := call.Wait(context.Background())
	fmt.Println(errors.Is(err, engine.ErrTimeout), errors.Is(err, context.DeadlineExceeded))
	if ce, ok := errors.AsType[*engine.CallError](err); ok {
		fmt.Println(ce.Method, ce.Deadline, ce.Budget, ce.Sent)
	}
	// Output:
	// pending: 1
	// pending: 0
	// true true
	// slow total 1m0s false
}

// A callback gets the outcome on the goroutine that settles the call: no goroutine
// waits, and the callback may begin the next call.
func ExampleCallOptions_notify() {
	e, _ := engine.New(engine.Options[string]{})
	defer e.Close()

	var second engine.Call[string]
	first, _ := e.Begin(context.Background(), engine.CallOptions[string]{Notify: func(o engine.Outcome[string]) {
		fmt.Println("first:", o.Status, o.Value)
		second, _ = e.Begin(context.Background(), engine.CallOptions[string]{NoWait: true, Notify: func(o engine.Outcome[string]) {
			fmt.Println("second:", o.Status, o.Err)
		}})
	}})
	e.Resolve(first.ID(), "a")
	e.Reject(second.ID(), errors.New("no such tool"))
	// Output:
	// first: resolved a
	// second: rejected no such tool
}

// Ids of the caller are compared by type and value, and may come back once their
// call is settled.
func ExampleEngine_Register() {
	e, _ := engine.New(engine.Options[string]{CallerIDs: true})
	defer e.Close()

	number, _ := e.Register(context.Background(), codec.IntID(1), engine.CallOptions[string]{})
	text, err := e.Register(context.Background(), codec.StringID("1"), engine.CallOptions[string]{})
	fmt.Println(err)
	_, err = e.Register(context.Background(), codec.IntID(1), engine.CallOptions[string]{})
	fmt.Println(err)

	e.Resolve(codec.StringID("1"), "for the string")
	e.Resolve(codec.IntID(1), "for the number")
	fmt.Println(text.Wait(context.Background()))
	fmt.Println(number.Wait(context.Background()))
	// Output:
	// <nil>
	// engine: id already in flight
	// for the string <nil>
	// for the number <nil>
}

// Done is for a select among several calls; Outcome takes what is there.
func ExampleCall_Done() {
	e, _ := engine.New(engine.Options[string]{})
	defer e.Close()

	a, _ := e.Begin(context.Background(), engine.CallOptions[string]{})
	b, _ := e.Begin(context.Background(), engine.CallOptions[string]{})
	e.Resolve(b.ID(), "from b")
	select {
	case <-a.Done():
		fmt.Println("a")
	case <-b.Done():
		o, _ := b.Outcome()
		fmt.Println("b:", o.Value)
	}
	a.Discard() // nobody will ask
	// Output:
	// b: from b
}

// When the connection goes, everything that is pending fails with one error, and
// so does what is registered later.
func ExampleEngine_FailAll() {
	e, _ := engine.New(engine.Options[string]{})
	call, _ := e.Begin(context.Background(), engine.CallOptions[string]{Method: "ping"})
	e.Dispatch(call.ID()) // its request was written

	gone := errors.New("connection reset")
	fmt.Println("failed:", e.FailAll(gone, true))

	_, err := call.Wait(context.Background())
	sent, _ := engine.Sent(err)
	fmt.Println(errors.Is(err, engine.ErrClosed), errors.Is(err, gone), "sent:", sent)

	late, err := e.Begin(context.Background(), engine.CallOptions[string]{})
	fmt.Println(err)
	_, err = late.Wait(context.Background())
	sent, _ = engine.Sent(err)
	fmt.Println(errors.Is(err, gone), "sent:", sent)
	// Output:
	// failed: 1
	// true true sent: true
	// <nil>
	// true sent: false
}

// Progress keeps a call with an idle deadline alive, but not beyond its total one.
func ExampleEngine_Touch() {
	clock := engine.NewManualClock()
	e, _ := engine.New(engine.Options[string]{Clock: clock})
	defer e.Close()

	call, _ := e.Begin(context.Background(), engine.CallOptions[string]{Timeout: 400 * time.Millisecond, IdleTimeout: 100 * time.Millisecond})
	for e.Len() > 0 {
		clock.Advance(50 * time.Millisecond)
		e.Touch(call.ID())
	}
	_, err := call.Wait(context.Background())
	ce, _ := errors.AsType[*engine.CallError](err)
	fmt.Println(ce.Deadline, ce.Budget)
	// Output:
	// total 400ms
}
