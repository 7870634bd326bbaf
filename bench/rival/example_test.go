package rival_test

import (
	"context"
	"fmt"
	"time"

	"github.com/correlator-go/correlator/bench/rival"
)

func Example() {
	table := rival.NewNaive()
	call := table.Begin("tools/call", time.Minute)
	table.Resolve(call.ID, []byte(`{"ok":true}`)) // what a reader does with an answer
	value, err := call.Wait(context.Background())
	fmt.Println(string(value), err)
	// Output: {"ok":true} <nil>
}
