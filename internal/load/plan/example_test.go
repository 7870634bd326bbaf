package plan_test

import (
	"fmt"

	"github.com/correlator-go/correlator/internal/load/plan"
)

func ExampleSchedule() {
	stages, _ := plan.ParseStages("1s:2,1s:2..6")
	schedule := plan.NewSchedule(stages)
	for at, ok := schedule.Next(); ok; at, ok = schedule.Next() {
		fmt.Print(at.Milliseconds(), " ")
	}
	// Output: 0 500 1000 1366 1618 1822
}
