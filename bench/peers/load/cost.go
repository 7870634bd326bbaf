package load

import (
	"math"
	"runtime"
	"time"

	"github.com/correlator-go/correlator/internal/cputime"
)

// Cost is what the process spent between two readings. Those of an in-memory
// pipe include the server's part.
type Cost struct {
	CPU    time.Duration // user and system time; zero where the system does not tell
	Allocs uint64        // heap objects
	Bytes  uint64        // heap bytes
	Writes int64         // write calls
}

// Meter reads what a process has spent so far. Both fields may be nil.
type Meter struct {
	Writes func() int64
	// Spent reads the cost of another process instead of this one's.
	Spent func() Cost
}

// Read reads everything. It stops the world for some microseconds.
func (m Meter) Read() Cost {
	if m.Spent != nil {
		return m.Spent()
	}
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	cpu, _ := cputime.Used()
	c := Cost{CPU: cpu, Allocs: s.Mallocs, Bytes: s.TotalAlloc}
	if m.Writes != nil {
		c.Writes = m.Writes()
	}
	return c
}

// Sub returns what was spent between before and c.
func (c Cost) Sub(before Cost) Cost {
	return Cost{c.CPU - before.CPU, c.Allocs - before.Allocs, c.Bytes - before.Bytes, c.Writes - before.Writes}
}

// Figures are the measurements of a window, by column name.
type Figures map[string]float64

// The columns.
const (
	Rate      = "calls/s"
	P50       = "p50" // nanoseconds, as the two below
	P99       = "p99"
	P999      = "p99.9"
	CPU       = "cpu" // nanoseconds of the client's processor time, each call
	Allocs    = "allocs"
	Bytes     = "bytes"
	WriteCall = "writes"
	Errors    = "errors" // calls that failed, in all
)

// figures puts a window into columns. Latencies that nobody took are left out.
func figures(calls int64, elapsed time.Duration, latency Counts, cost Cost, errors int64) Figures {
	f := Figures{Rate: float64(calls) / elapsed.Seconds(), Errors: float64(errors)}
	each := func(column string, v float64) { f[column] = v / float64(calls) }
	if calls > 0 {
		each(CPU, float64(cost.CPU))
		each(Allocs, float64(cost.Allocs))
		each(Bytes, float64(cost.Bytes))
		each(WriteCall, float64(cost.Writes))
	}
	for column, q := range map[string]float64{P50: 0.5, P99: 0.99, P999: 0.999} {
		if v := latency.Quantile(q); !math.IsNaN(v) {
			f[column] = v
		}
	}
	return f
}
