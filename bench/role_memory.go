package bench

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/correlator-go/correlator/bench/claim"
	"github.com/correlator-go/correlator/bench/rival"
	"github.com/correlator-go/correlator/engine"
)

// heap returns the bytes that are reachable.
func heap() float64 {
	runtime.GC()
	runtime.GC() // what the first one freed of pools and finalizers
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// memoryRole fills a table with so many calls and measures what one costs, and
// what a collection costs then.
func memoryRole(args []string) (claim.Values, error) {
	if len(args) != 2 || tables[args[0]] == nil {
		return nil, fmt.Errorf("bad arguments: %q", args)
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return nil, err
	}
	before := heap()
	t := tables[args[0]](n)
	t.fill(n, false)
	t.settle() // deadlines move into the wheel
	bytes := (heap() - before) / float64(n)
	cycles := make([]float64, 7)
	for i := range cycles {
		began := time.Now()
		runtime.GC()
		cycles[i] = float64(time.Since(began).Nanoseconds())
	}
	runtime.KeepAlive(t)
	slices.Sort(cycles)
	return claim.Values{"bytes": bytes, "gc": cycles[len(cycles)/2]}, nil
}

// growthRole times every registration while a table grows to a million entries,
// one writer: the engine, or a map under a mutex.
func growthRole(args []string) (claim.Values, error) {
	const n = 1_000_000
	var register func(i int)
	switch args[0] {
	case engineName:
		t := newWaited(n, full())
		register = func(int) { t.begin() }
	case mutexMapName:
		m, c := rival.NewMutexMap(), new(rival.NaiveCall)
		register = func(i int) { m.Put(int64(i), c) }
	default:
		return nil, fmt.Errorf("no table %q", args[0])
	}
	each := make([]int64, n)
	for i := range each {
		began := time.Now()
		register(i)
		each[i] = time.Since(began).Nanoseconds()
	}
	slices.Sort(each)
	return claim.Values{"p99.99": float64(each[n-n/10_000]), "max": float64(each[n-1])}, nil
}

// idleRole makes many engines that have nothing to do, and then one call each.
func idleRole([]string) (claim.Values, error) {
	const n, pause = 2000, time.Second
	v := claim.Values{}
	before, goroutines := heap(), runtime.NumGoroutine()
	engines := make([]*engine.Engine[[]byte], n)
	for i := range engines {
		engines[i] = must(engine.New(engine.Options[[]byte]{}))
	}
	v["bytes"] = (heap() - before) / n
	runs := func() (total float64) {
		for _, e := range engines {
			total += float64(e.Stats().WheelRuns)
		}
		return total
	}
	time.Sleep(pause)
	v["runs, empty"] = runs()
	for _, e := range engines {
		must(e.Begin(background, full()))
	}
	time.Sleep(pause)
	v["runs, one call"] = runs()
	v["goroutines"] = float64(runtime.NumGoroutine() - goroutines)
	runtime.KeepAlive(engines)
	return v, nil
}

// flatRole makes many calls with deadlines of 30 s, one in 64 of 1 s, and looks at
// what grew.
func flatRole(args []string) (claim.Values, error) {
	calls, err := strconv.Atoi(args[0])
	if err != nil {
		return nil, err
	}
	t := newSometimes(1000)
	b := newBed[call](t)
	b.fill(1000, true)
	b.window(1000, 2, 2*time.Second) // deadlines have passed: whatever grows has grown
	before, visits, began := heap(), t.engine.Stats().WheelVisits, time.Now()
	b.count(2, calls)
	elapsed := time.Since(began)
	stats := t.engine.Stats()
	after := heap()
	periods := max(1, elapsed.Seconds()/timeout.Seconds())
	runtime.KeepAlive(b)
	return claim.Values{
		"growth":   (after - before) / before * 100,
		"calls":    float64(calls),
		"slots":    float64(stats.Slots) - 1000,
		"visits":   float64(stats.WheelVisits-visits) / float64(stats.Slots) / periods,
		"ns":       float64(elapsed.Nanoseconds()) / float64(calls),
		"expired":  float64(stats.Expired),
		"maxprocs": float64(runtime.GOMAXPROCS(0)),
	}, nil
}

// failAllRole fails a million calls that nobody waits for.
func failAllRole([]string) (claim.Values, error) {
	const n = 1_000_000
	t := newWaited(n, full())
	newBed[call](t).fill(n, false)
	began := time.Now()
	failed := t.engine.FailAll(engine.ErrClosed, false)
	elapsed := time.Since(began)
	if failed != n {
		return nil, fmt.Errorf("%d of %d failed", failed, n)
	}
	return claim.Values{"ns": float64(elapsed.Nanoseconds()) / n}, nil
}
