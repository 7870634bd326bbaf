package progress_test

import (
	"fmt"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/progress"
)

// Worker and transport, here in one goroutine.
func Example() {
	sink, err := progress.NewSink(progress.Limits{MaxUpdates: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	state := sink.State()
	reporter, _ := sink.Bind(progress.Context{
		Request: codec.IntID(1), Token: codec.StringID("work"), Shape: progress.AppendNotification,
	})

	report := func(value float64) {
		r, _, err := reporter.Submit(progress.Update{Progress: progress.Float(value), Total: progress.Int(10)}, func(err error) {
			fmt.Println("answered:", err)
		})
		if err != nil {
			fmt.Println("not taken:", err)
			return
		}
		frame, err := state.Accept(nil, r)
		if err == nil {
			fmt.Println(string(frame)) // the transport writes it
		}
		r.Reply(err)
	}
	report(2)
	report(2)
	reporter.End() // the handler returns
	report(3)
	// Output:
	// {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"work","progress":2,"total":10}}
	// answered: <nil>
	// answered: progress: not increasing: 2 after 2
	// not taken: progress: wrong process: the reporter is not, or no longer, the bound one
}

// Progress keeps a request alive, but not for ever.
func ExampleDeadline() {
	d, _ := progress.NewDeadline(0, progress.Policy{Timeout: time.Second, ResetOnProgress: true, MaxTotal: 2500 * time.Millisecond})
	d.Touch(900 * time.Millisecond)
	fmt.Println(d.At(), d.Err(time.Second))
	d.Touch(1800 * time.Millisecond)
	fmt.Println(d.At(), d.Err(3*time.Second))
	// Output:
	// 1.9s <nil>
	// 2.5s progress: request reached its total timeout
}
