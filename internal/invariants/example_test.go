package invariants_test

import (
	"fmt"

	"github.com/correlator-go/correlator/internal/invariants"
)

// What holds is never noticed; what does not, panics under the tag "invariants".
func ExampleCheck() {
	free, used, slots := 3, 5, 8
	invariants.Check(free+used == slots, "I5: %d free and %d used of %d", free, used, slots)
	fmt.Println("holds")
	// Output: holds
}
