package bench

import (
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

// table is what a pending table must do to stand in the workloads. H is its
// handle of a call.
type table[H any] interface {
	begin() H  // registers a call with a deadline
	resolve(H) // answers it, finding it by its id
	wait(H)    // takes the outcome; parks until there is one
}

// workloads are the measurements that every table can stand, with the type of its
// handles hidden. Results are nanoseconds an operation.
type workloads interface {
	window(pending, goroutines int, d time.Duration) float64
	pipe(callers int, d time.Duration) float64
	cross(d time.Duration) float64
	// count does so many operations of window on what fill kept.
	count(goroutines, ops int)
	// park does so many operations of pipe.
	park(callers, ops int)
	// fill registers n calls that stay pending and keeps their handles alive only
	// if keep is set.
	fill(n int, keep bool)
	// close ends what a table runs in the background.
	close()
	// settle lets a table finish what it does in the background.
	settle()
	// allocs is the mean number of allocations of one operation of window.
	allocs() float64
}

// bed measures one table.
type bed[H any, T table[H]] struct {
	table T
	kept  []H
}

func newBed[H any, T table[H]](t T) workloads { return &bed[H, T]{table: t} }

func (b *bed[H, T]) fill(n int, keep bool) {
	if keep {
		b.kept = make([]H, 0, n)
	}
	for range n {
		if h := b.table.begin(); keep {
			b.kept = append(b.kept, h)
		}
	}
}

// burst is how many operations pass between two looks at the stop flag.
const burst = 64

// xorshift is a generator that costs less than a nanosecond.
type xorshift uint64

func (x *xorshift) below(n int) int {
	v := uint64(*x)
	v ^= v << 13
	v ^= v >> 7
	v ^= v << 17
	*x = xorshift(v)
	return int(v >> 32 * uint64(n) >> 32)
}

// turns does so many operations of window on a share of the pending calls.
func (b *bed[H, T]) turns(pending []H, rng *xorshift, n int) {
	for range n {
		i := rng.below(len(pending))
		h := pending[i]
		b.table.resolve(h)
		b.table.wait(h)
		pending[i] = b.table.begin()
	}
}

// window keeps what is pending from one call to the next, so that a large table
// is filled once; the first call says how large it is.
func (b *bed[H, T]) window(pending, goroutines int, d time.Duration) float64 {
	if b.kept == nil {
		b.fill(pending, true)
	}
	return timed(goroutines, d, func(g int, stop *atomic.Bool) (ops int) {
		share, rng := b.share(g, goroutines), xorshift(rand.Uint64()|1)
		for ; !stop.Load(); ops += burst {
			b.turns(share, &rng, burst)
		}
		return ops
	})
}

func (b *bed[H, T]) share(g, goroutines int) []H {
	each := len(b.kept) / goroutines
	return b.kept[g*each : (g+1)*each]
}

func (b *bed[H, T]) count(goroutines, ops int) {
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			rng := xorshift(rand.Uint64() | 1)
			b.turns(b.share(g, goroutines), &rng, ops/goroutines+1)
		})
	}
	wg.Wait()
}

// pace scales the time of all measurements; tests, which want no result, lower it.
var pace = 1.0

// timed runs work on so many goroutines for half of d, three times, after a tenth of
// d to warm up, and returns the median of wall nanoseconds an operation.
func timed(goroutines int, d time.Duration, work func(g int, stop *atomic.Bool) (ops int)) float64 {
	d = time.Duration(float64(d) * pace)
	run := func(d time.Duration) float64 {
		var (
			ops  atomic.Int64
			wg   sync.WaitGroup
			stop atomic.Bool
		)
		began := time.Now()
		for g := range goroutines {
			wg.Go(func() { ops.Add(int64(work(g, &stop))) })
		}
		time.Sleep(d)
		stop.Store(true)
		wg.Wait()
		return float64(time.Since(began).Nanoseconds()) / float64(max(ops.Load(), 1))
	}
	run(d / 10)
	runtime.GC()
	slices := [3]float64{run(d / 2), run(d / 2), run(d / 2)}
	return max(min(slices[0], slices[1]), min(max(slices[0], slices[1]), slices[2]))
}

// answering starts the goroutine that answers, and returns the way to it and what
// ends it.
func (b *bed[H, T]) answering(callers int) (asked chan H, end func()) {
	asked = make(chan H, callers)
	var reader sync.WaitGroup
	reader.Go(func() {
		for h := range asked {
			b.table.resolve(h)
		}
	})
	return asked, func() {
		close(asked)
		reader.Wait()
	}
}

func (b *bed[H, T]) exchange(asked chan H) {
	h := b.table.begin()
	asked <- h
	b.table.wait(h)
}

func (b *bed[H, T]) pipe(callers int, d time.Duration) float64 {
	asked, end := b.answering(callers)
	defer end()
	return timed(callers, d, func(_ int, stop *atomic.Bool) (ops int) {
		for ; !stop.Load(); ops++ {
			b.exchange(asked)
		}
		return ops
	})
}

func (b *bed[H, T]) park(callers, ops int) {
	asked, end := b.answering(callers)
	defer end()
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range ops/callers + 1 {
				b.exchange(asked)
			}
		})
	}
	wg.Wait()
}

func (b *bed[H, T]) cross(d time.Duration) float64 {
	const batches = 4 // in turn, so that neither side waits for the other
	asked, answered := make(chan []H, batches), make(chan []H, batches)
	for range batches {
		answered <- make([]H, 0, burst)
	}
	var reader sync.WaitGroup
	reader.Go(func() {
		for batch := range asked {
			for _, h := range batch {
				b.table.resolve(h)
			}
			answered <- batch
		}
	})
	ns := timed(1, d, func(_ int, stop *atomic.Bool) (ops int) {
		for !stop.Load() {
			batch := <-answered
			for _, h := range batch {
				b.table.wait(h)
			}
			batch = batch[:0]
			for range burst {
				batch = append(batch, b.table.begin())
			}
			asked <- batch
			ops += burst
		}
		return ops
	})
	close(asked)
	reader.Wait()
	return ns
}

func (b *bed[H, T]) close() {
	if t, ok := any(b.table).(interface{ Close() }); ok {
		t.Close()
	}
}

func (b *bed[H, T]) settle() {
	if t, ok := any(b.table).(interface{ settle() }); ok {
		t.settle()
	}
}

func (b *bed[H, T]) allocs() float64 {
	const runs = 10_000
	b.fill(1000, true)
	rng := xorshift(rand.Uint64() | 1)
	b.turns(b.kept, &rng, runs) // whatever grows has grown
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.turns(b.kept, &rng, runs)
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / runs
}
