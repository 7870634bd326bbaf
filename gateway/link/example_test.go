package link_test

import (
	"fmt"

	"github.com/correlator-go/correlator/gateway/link"
)

// Three messages of one reader's burst go to two connections: each is written once, when
// the burst is over.
func ExampleBurst() {
	var one, two link.Held
	one.Init(func() { fmt.Println("one is written") })
	two.Init(func() { fmt.Println("two is written") })

	var burst link.Burst
	burst.Hold(&one) // a frame was queued there
	burst.Hold(&two)
	burst.Hold(&one)
	fmt.Println("the burst is over")
	burst.Flush()

	(*link.Burst)(nil).Hold(&one) // no burst: at once
	// Output:
	// the burst is over
	// one is written
	// two is written
	// one is written
}
