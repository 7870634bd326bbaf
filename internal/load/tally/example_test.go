package tally_test

import (
	"fmt"
	"time"

	"github.com/correlator-go/correlator/internal/load/tally"
)

// A call that was due at 0, sent at 30 ms because the generator was held up, and
// answered at 31 ms.
func ExampleTally() {
	t := tally.New(1)
	t.Shard(0).Record(tally.Sample{Sent: 30 * time.Millisecond, Done: 31 * time.Millisecond})
	row := t.Rotate(time.Second, tally.Gauges{Sent: 1}, false)
	fmt.Println(row.Ends.OK, time.Duration(row.Response.P50).Round(time.Millisecond), time.Duration(row.Service.P50).Round(time.Millisecond))
	// Output: 1 31ms 1ms
}
