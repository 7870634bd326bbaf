package residue

import (
	"runtime"
	"testing"
	"time"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/limit"
)

const (
	// patience is for what takes milliseconds on a machine that is not busy.
	patience = time.Minute
	tick     = 2 * time.Millisecond
)

// AddsUp reports whether every call of a gateway is over, has ended once, and holds
// neither a place at a gate nor an entry in a table.
func AddsUp(s gateway.Stats) bool {
	return s.InFlight == 0 && s.Waiting == 0 && s.Admitted == 0 && s.Pending == 0 &&
		s.Requests == s.Answered+s.Failed+s.Expired+s.Cancelled+s.Lost+s.Refused
}

// Calls waits until AddsUp is true of g, and gives its counters. Requests that the gateway
// makes for itself end with the ways to their servers, so it comes after Close if there
// may be some.
func Calls(t testing.TB, g *gateway.Gateway) gateway.Stats {
	t.Helper()
	if !eventually(func() bool { return AddsUp(g.Stats()) }) {
		t.Fatalf("not every call is over, once: %+v", g.Stats())
	}
	return g.Stats()
}

// Ended is Calls for a gateway that was closed: it waits until its last session has gone,
// too.
func Ended(t testing.TB, g *gateway.Gateway) gateway.Stats {
	t.Helper()
	if !eventually(func() bool { return g.Stats().Sessions == 0 }) {
		t.Fatalf("%d sessions are left", g.Stats().Sessions)
	}
	return Calls(t, g)
}

// Base is what the process held before a test began.
type Base struct {
	goroutines    int
	heap, partial int64
}

// Measure takes the base. What the test makes once and for all comes before it.
func Measure() Base {
	return Base{runtime.NumGoroutine(), heap(), limit.Partial.Used()}
}

// Returns waits until no more goroutines run than did, partial frames hold no more bytes,
// and live memory is at most slack bytes above what it was. What the test itself keeps
// counts as well.
func (b Base) Returns(t testing.TB, slack int64) {
	t.Helper()
	if !eventually(func() bool { return runtime.NumGoroutine() <= b.goroutines }) {
		stacks := make([]byte, 1<<20)
		t.Fatalf("%d goroutines more than %d:\n%s", runtime.NumGoroutine()-b.goroutines, b.goroutines, stacks[:runtime.Stack(stacks, true)])
	}
	if !eventually(func() bool { return limit.Partial.Used() <= b.partial }) {
		t.Fatalf("%d bytes of partial frames are still in use, %d were", limit.Partial.Used(), b.partial)
	}
	if !eventually(func() bool { return heap() <= b.heap+slack }) {
		t.Fatalf("%d bytes are live, %d were, and %d more may be", heap(), b.heap, slack)
	}
}

// heap is what is live, in bytes. Two rounds empty the pools.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// eventually looks again and again. It asks for the time twice only: in a bubble of
// synctest time passes by itself.
func eventually(done func() bool) bool {
	late := time.NewTimer(patience)
	defer late.Stop()
	look := time.NewTicker(tick)
	defer look.Stop()
	for !done() {
		select {
		case <-look.C:
		case <-late.C:
			return done()
		}
	}
	return true
}
