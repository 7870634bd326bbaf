package table

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	method  = "tools/call"
	timeout = 30 * time.Second
)

// payload is every answer.
var payload = []byte(`{"content":[],"isError":false}`)

// kept is a table of pending calls. H is its handle of a call.
type kept[H any] struct {
	begin   func() H // registers a call with a deadline
	resolve func(H)  // answers it, finding it by its id
	wait    func(H)  // takes the outcome
}

// Size is one measurement: so many calls pending, so many goroutines at it.
type Size struct{ Pending, Goroutines int }

// String names the size in words.
func (s Size) String() string {
	return fmt.Sprintf("%d pending, %d goroutines", s.Pending, s.Goroutines)
}

// Sizes are what is measured.
func Sizes() []Size { return []Size{{1000, 1}, {1000, 64}, {100_000, 64}} }

// Figures are nanoseconds of wall time, allocations and bytes an operation.
type Figures struct{ Ns, Allocs, Bytes float64 }

// window measures one table for about d.
func window[H any](t kept[H], s Size, d time.Duration) Figures {
	pending := make([]H, s.Pending/s.Goroutines*s.Goroutines)
	for i := range pending {
		pending[i] = t.begin()
	}
	run := func(d time.Duration) (ops int64, elapsed time.Duration) {
		var (
			sum  atomic.Int64
			stop atomic.Bool
			wg   sync.WaitGroup
		)
		began := time.Now()
		for g := range s.Goroutines {
			share := pending[g*len(pending)/s.Goroutines : (g+1)*len(pending)/s.Goroutines]
			random := rand.New(rand.NewPCG(uint64(g), 1))
			wg.Go(func() {
				n := int64(0)
				for !stop.Load() {
					for range 64 {
						i := random.IntN(len(share))
						t.resolve(share[i])
						t.wait(share[i])
						share[i] = t.begin()
					}
					n += 64
				}
				sum.Add(n)
			})
		}
		time.Sleep(d)
		stop.Store(true)
		wg.Wait()
		return sum.Load(), time.Since(began)
	}
	run(d / 5)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	ops, elapsed := run(d)
	runtime.ReadMemStats(&after)
	n := float64(max(ops, 1))
	return Figures{float64(elapsed) / n, float64(after.Mallocs-before.Mallocs) / n, float64(after.TotalAlloc-before.TotalAlloc) / n}
}

// contenders measure themselves, by name.
var contenders = []struct {
	name    string
	measure func(Size, time.Duration) Figures
}{
	{Ours, func(s Size, d time.Duration) Figures { return window(engineTable(s.Pending), s, d) }},
	{"xsync v4", func(s Size, d time.Duration) Figures { return window(mapTable(newXsync4()), s, d) }},
	{"xsync v3", func(s Size, d time.Duration) Figures { return window(mapTable(newXsync3()), s, d) }},
	{"sync.Map", func(s Size, d time.Duration) Figures { return window(mapTable(newSyncMap()), s, d) }},
	{"mutex and map", func(s Size, d time.Duration) Figures { return window(naiveTable(), s, d) }},
	{"go-sdk's", func(s Size, d time.Duration) Figures { return window(goSDKTable(), s, d) }},
	{"mcp-go's", func(s Size, d time.Duration) Figures { return window(mcpGoTable(), s, d) }},
	{"sourcegraph's", func(s Size, d time.Duration) Figures { return window(sourcegraphTable(), s, d) }},
	{"nats.go's", func(s Size, d time.Duration) Figures { return window(natsTable(), s, d) }},
}

// Ours is the name of the engine.
const Ours = "engine"

// Names lists the contenders, ours first.
func Names() []string {
	var out []string
	for _, c := range contenders {
		out = append(out, c.name)
	}
	return out
}

// Measure measures a contender for about d.
func Measure(name string, s Size, d time.Duration) (Figures, error) {
	for _, c := range contenders {
		if c.name == name {
			return c.measure(s, d), nil
		}
	}
	return Figures{}, fmt.Errorf("no table %q", name)
}
