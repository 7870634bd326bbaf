package bench

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
)

// coresRole plays another role on so many CPUs. Its arguments: the number, the
// role, the role's arguments.
func coresRole(args []string) (claim.Values, error) {
	if len(args) < 2 {
		return nil, errors.New("no number of CPUs or no role named")
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 1 {
		return nil, fmt.Errorf("bad number of CPUs %q", args[0])
	}
	role, ok := Roles()[args[1]]
	if !ok {
		return nil, fmt.Errorf("no role %q", args[1])
	}
	before := runtime.GOMAXPROCS(n)
	defer runtime.GOMAXPROCS(before)
	return role(args[2:])
}

// callsRole does so many operations and measures nothing: for tools that count
// instructions from outside, of which two runs that differ in the number give those
// of one operation. Its arguments: "window" and a table, 1,000 pending on one
// goroutine; or "scan" and the letter of a shape; and the number.
func callsRole(args []string) (claim.Values, error) {
	if len(args) != 3 {
		return nil, fmt.Errorf("bad arguments: %q", args)
	}
	n, err := strconv.Atoi(args[2])
	if err != nil || n < 1 {
		return nil, fmt.Errorf("bad number of operations %q", args[2])
	}
	began := time.Now()
	switch args[0] {
	case "window":
		makeTable, ok := tables[args[1]]
		if !ok {
			return nil, fmt.Errorf("no table %q", args[1])
		}
		t := makeTable(1000)
		t.fill(1000, true)
		t.count(1, n)
	case "scan":
		if err := scanTimes(args[1], n); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("nothing called %q to do", args[0])
	}
	return claim.Values{"ns": float64(time.Since(began).Nanoseconds()) / float64(n)}, nil
}

func scanTimes(letter string, n int) error {
	for _, s := range shapes {
		if s.letter != letter {
			continue
		}
		set := frames(s.shape)
		scan := decoding(ourName, set)
		for done := 0; done < n; done += len(set) {
			scan()
		}
		return nil
	}
	return fmt.Errorf("no shape %q", letter)
}
