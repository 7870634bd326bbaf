package bench

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
)

// tableRole measures one table in this process. Its arguments are the table's
// name, the number of calls pending, the time of each measurement, and what to
// measure: window/GOROUTINES, pipe/CALLERS, cross, allocs. The values bear those
// names.
func tableRole(args []string) (claim.Values, error) {
	if len(args) < 4 {
		return nil, fmt.Errorf("too few arguments: %q", args)
	}
	makeTable, ok := tables[args[0]]
	if !ok {
		return nil, fmt.Errorf("no table %q", args[0])
	}
	pending, err := strconv.Atoi(args[1])
	if err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(args[2])
	if err != nil {
		return nil, err
	}
	t, v := makeTable(pending), claim.Values{}
	for _, what := range args[3:] {
		workload, number, _ := strings.Cut(what, "/")
		n, _ := strconv.Atoi(number)
		switch workload {
		case "window":
			if n < 1 || n > pending {
				return nil, fmt.Errorf("%q with %d pending", what, pending)
			}
			v[what] = t.window(pending, n, d)
		case "pipe":
			v[what] = t.pipe(n, d)
		case "cross":
			v[what] = t.cross(d)
		case "allocs":
			v[what] = t.allocs()
		default:
			return nil, fmt.Errorf("no workload %q", what)
		}
	}
	return v, nil
}

// tableChild is a contender that measures a table in a child process.
func tableChild(s *claim.Session, name string, pending int, d time.Duration, what ...string) claim.Contender {
	args := append([]string{name, strconv.Itoa(pending), d.String()}, what...)
	return claim.Contender{Name: name, Run: func() (claim.Values, error) { return s.Child("table", args...) }}
}
