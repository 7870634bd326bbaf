package drive

import (
	"runtime"
	"time"

	"github.com/correlator-go/correlator/conn"
	"github.com/correlator-go/correlator/internal/cputime"
)

// Cost is what this process spent on the measured part of a run, warm-up and
// waiting for the last answers aside. With an in-process peer it includes the
// peer's part.
type Cost struct {
	Calls    int64         // calls settled meanwhile: what the rest is shared by
	Elapsed  time.Duration // wall-clock time
	CPU      time.Duration // user and system time of the whole process
	CPUKnown bool          // whether this system tells it
	Allocs   uint64        // heap objects allocated
	Heap     uint64        // heap bytes allocated
	GC       uint32        // collections
	BytesOut uint64
	BytesIn  uint64
	Writes   uint64 // write calls of the connections
}

// PerCall shares v by the calls; 0 when there are none.
func (c Cost) PerCall(v float64) float64 {
	if c.Calls == 0 {
		return 0
	}
	return v / float64(c.Calls)
}

// Busy is the share of all processors that the process kept busy.
func (c Cost) Busy() float64 {
	if !c.CPUKnown || c.Elapsed <= 0 {
		return 0
	}
	return c.CPU.Seconds() / c.Elapsed.Seconds() / float64(runtime.GOMAXPROCS(0))
}

// meter is a reading of everything that Cost is the difference of.
type meter struct {
	at, own time.Duration // since the beginning, and in the run's own time
	settled int64
	cpu     time.Duration
	known   bool
	memory  runtime.MemStats
	conn    conn.Stats
}

// read stops the world for some microseconds.
func (s *state) read() *meter {
	m := &meter{at: s.now(), settled: s.settled.Load(), conn: s.links.stats()}
	m.own = s.clock.own(m.at)
	runtime.ReadMemStats(&m.memory)
	m.cpu, m.known = cputime.Used()
	return m
}

func (m *meter) since(before *meter) Cost {
	return Cost{
		Calls: m.settled - before.settled, Elapsed: m.at - before.at,
		CPU: m.cpu - before.cpu, CPUKnown: m.known && before.known,
		Allocs: m.memory.Mallocs - before.memory.Mallocs, Heap: m.memory.TotalAlloc - before.memory.TotalAlloc,
		GC:       m.memory.NumGC - before.memory.NumGC,
		BytesOut: m.conn.BytesOut - before.conn.BytesOut, BytesIn: m.conn.BytesIn - before.conn.BytesIn,
		Writes: m.conn.Writes - before.conn.Writes,
	}
}
