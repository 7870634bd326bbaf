package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// BenchmarkStorm lets a number of calls expire in one tick and tells how long after
// their deadline the last of them was told, beside timers of the runtime.
func BenchmarkStorm(b *testing.B) {
	const calls = 1_000_000
	const lead = 2 * time.Second
	b.Run("engine", func(b *testing.B) {
		for range b.N {
			e := newEngine(b, calls)
			var fired atomic.Int64
			done := make(chan struct{})
			o := engine.CallOptions[[]byte]{IdleTimeout: engine.NoTimeout, Notify: func(engine.Outcome[[]byte]) {
				if fired.Add(1) == calls {
					close(done)
				}
			}}
			at := time.Now().Add(lead)
			for range calls {
				o.Timeout = max(time.Until(at), 1)
				if _, err := e.Begin(context.Background(), o); err != nil {
					b.Fatal(err)
				}
			}
			<-done
			b.ReportMetric(float64(time.Since(at))/1e6, "ms-late")
		}
	})
	b.Run("AfterFunc", func(b *testing.B) {
		for range b.N {
			var fired atomic.Int64
			done := make(chan struct{})
			at := time.Now().Add(lead)
			for range calls {
				time.AfterFunc(time.Until(at), func() {
					if fired.Add(1) == calls {
						close(done)
					}
				})
			}
			<-done
			b.ReportMetric(float64(time.Since(at))/1e6, "ms-late")
		}
	})
}

// BenchmarkFailAll tells what failing a call costs that nobody waits on yet.
func BenchmarkFailAll(b *testing.B) {
	const calls = 1_000_000
	e := newEngine(b, calls)
	var spent time.Duration
	for range b.N {
		all := make([]engine.Call[[]byte], calls)
		for i := range all {
			all[i], _ = e.Begin(context.Background(), engine.CallOptions[[]byte]{Method: "m"})
		}
		start := time.Now()
		if n := e.FailAll(errPeerGone, false); n != calls {
			b.Fatal(n)
		}
		spent += time.Since(start)
		for _, c := range all {
			c.Discard()
		}
	}
	b.ReportMetric(float64(spent)/float64(b.N)/calls, "ns/call")
}

var errPeerGone = fmt.Errorf("peer gone")

// BenchmarkDeadline tells the marginal cost of deadlines, beside that of reading
// the clock.
func BenchmarkDeadline(b *testing.B) {
	ctx := context.Background()
	for _, c := range []struct {
		name        string
		total, idle time.Duration
	}{
		{"none", engine.NoTimeout, engine.NoTimeout},
		{"total", 30 * time.Second, engine.NoTimeout},
		{"both", 30 * time.Second, 20 * time.Second},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := newEngine(b, 1000)
			o := engine.CallOptions[[]byte]{Timeout: c.total, IdleTimeout: c.idle}
			for b.Loop() {
				call, _ := e.Begin(ctx, o)
				e.Resolve(call.ID(), payload)
				if _, err := call.Wait(ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("clock", func(b *testing.B) {
		start := time.Now()
		for b.Loop() {
			sink = time.Since(start)
		}
	})
	b.Run("AfterFunc", func(b *testing.B) {
		for b.Loop() {
			time.AfterFunc(30*time.Second, func() {}).Stop()
		}
	})
}

var sink time.Duration

// BenchmarkMixed takes short timeouts and long ones in turn on the same slots.
func BenchmarkMixed(b *testing.B) {
	for _, pending := range []int{1000, 100_000, 1_000_000} {
		for _, short := range []time.Duration{30 * time.Second, 50 * time.Millisecond} {
			b.Run(fmt.Sprintf("pending=%d/short=%v", pending, short), func(b *testing.B) {
				e := newEngine(b, pending)
				o := engine.CallOptions[[]byte]{Method: "m", Timeout: 30 * time.Second, IdleTimeout: engine.NoTimeout}
				window(b, pending, 2, func(size int) func() {
					step := engineWorkerOf(e, size, func(n int) engine.CallOptions[[]byte] {
						o := o
						if n%2 == 0 {
							o.Timeout = short
						}
						return o
					})
					return step
				})
				s := e.Stats()
				b.ReportMetric(float64(s.Staged)/float64(s.Registered), "staged/op")
				b.ReportMetric(float64(s.WheelVisits)/float64(s.Registered), "visits/op")
				b.ReportMetric(float64(s.WheelRuns), "runs")
			})
		}
	}
}

func engineWorkerOf(e *engine.Engine[[]byte], size int, o func(n int) engine.CallOptions[[]byte]) func() {
	ctx := context.Background()
	calls := make([]engine.Call[[]byte], size)
	n := 0
	for i := range calls {
		n++
		calls[i], _ = e.Begin(ctx, o(n))
	}
	at := uint64(size)
	return func() {
		at = at*6364136223846793005 + 1442695040888963407
		i := (at >> 33) % uint64(size)
		c := calls[i]
		e.Resolve(c.ID(), payload)
		_, _ = c.Wait(ctx)
		n++
		calls[i], _ = e.Begin(ctx, o(n))
	}
}

// BenchmarkPark has waiters that really sleep, and one goroutine that answers.
func BenchmarkPark(b *testing.B) {
	for _, waiters := range []int{1, 64, 1024} {
		b.Run(fmt.Sprintf("engine/waiters=%d", waiters), func(b *testing.B) {
			e := newEngine(b, waiters)
			ids := make(chan codec.ID, waiters)
			park(b, waiters, func() {
				c, _ := e.Begin(context.Background(), engine.CallOptions[[]byte]{Method: "m"})
				ids <- c.ID()
				if _, err := c.Wait(context.Background()); err != nil {
					b.Error(err)
				}
			}, func() {
				for id := range ids {
					e.Resolve(id, payload)
				}
			}, func() { close(ids) })
		})
		b.Run(fmt.Sprintf("naive/waiters=%d", waiters), func(b *testing.B) {
			n := newNaive()
			ids := make(chan uint64, waiters)
			park(b, waiters, func() {
				c := n.begin("m", 30*time.Second)
				ids <- c.id
				<-c.done
			}, func() {
				for id := range ids {
					n.resolve(id, payload)
				}
			}, func() { close(ids) })
		})
	}
}

func park(b *testing.B, waiters int, call, answer, stop func()) {
	b.ReportAllocs()
	var answering, calling sync.WaitGroup
	answering.Go(answer)
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	for range waiters {
		calling.Go(func() {
			for left.Add(-1) >= 0 {
				call()
			}
		})
	}
	calling.Wait()
	b.StopTimer()
	stop()
	answering.Wait()
}

// BenchmarkCallerIDs is the window with ids of the caller.
func BenchmarkCallerIDs(b *testing.B) {
	for _, pending := range []int{1000, 1_000_000} {
		for _, goroutines := range []int{1, 2, 64} {
			b.Run(fmt.Sprintf("pending=%d/goroutines=%d", pending, goroutines), func(b *testing.B) {
				e, err := engine.New(engine.Options[[]byte]{CallerIDs: true, MaxPending: 2 * pending})
				if err != nil {
					b.Fatal(err)
				}
				defer e.Close()
				var worker atomic.Int64
				window(b, pending, goroutines, func(size int) func() {
					ctx := context.Background()
					base := fmt.Sprintf("client-%d-request-", worker.Add(1))
					names := make([]codec.ID, 2*size)
					for i := range names {
						names[i] = codec.StringID(fmt.Sprintf("%s%d", base, i))
					}
					calls := make([]engine.Call[[]byte], size)
					begin := func(i, name int) {
						calls[i], err = e.Register(ctx, names[name], engine.CallOptions[[]byte]{Method: "m"})
						if err != nil {
							b.Error(err)
						}
					}
					which := make([]int, size)
					for i := range calls {
						which[i] = i
						begin(i, i)
					}
					spare := size
					at := uint64(size)
					return func() {
						at = at*6364136223846793005 + 1442695040888963407
						i := (at >> 33) % uint64(size)
						e.Resolve(names[which[i]], payload)
						_, _ = calls[i].Wait(ctx)
						which[i], spare = spare, which[i]
						begin(int(i), which[i])
					}
				})
			})
		}
	}
}

// BenchmarkMemory tells the bytes that a pending call takes.
func BenchmarkMemory(b *testing.B) {
	const calls = 1_000_000
	for _, c := range []struct {
		name string
		o    engine.Options[[]byte]
		call engine.CallOptions[[]byte]
	}{
		{"bare", engine.Options[[]byte]{}, engine.CallOptions[[]byte]{Timeout: engine.NoTimeout, IdleTimeout: engine.NoTimeout}},
		{"full", engine.Options[[]byte]{}, engine.CallOptions[[]byte]{Method: "tools/call", Timeout: 30 * time.Second, IdleTimeout: 20 * time.Second}},
		{"string key", engine.Options[[]byte]{CallerIDs: true}, engine.CallOptions[[]byte]{Method: "tools/call", Timeout: 30 * time.Second, IdleTimeout: 20 * time.Second}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				names := make([]codec.ID, calls)
				if c.o.CallerIDs {
					for i := range names {
						names[i] = codec.StringID(fmt.Sprintf("request-%d", i))
					}
				}
				before := heap()
				o := c.o
				o.MaxPending = calls
				e, err := engine.New(o)
				if err != nil {
					b.Fatal(err)
				}
				for i := range calls {
					if c.o.CallerIDs {
						_, err = e.Register(context.Background(), names[i], c.call)
					} else {
						_, err = e.Begin(context.Background(), c.call)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				start := time.Now()
				after := heap()
				b.ReportMetric(float64(time.Since(start))/2e6, "ms/gc")
				b.ReportMetric(float64(after-before)/calls, "B/call")
				runtime.KeepAlive(names)
				_ = e.Close()
			}
		})
	}
	b.Run("empty", func(b *testing.B) {
		for range b.N {
			engines := make([]*engine.Engine[[]byte], 1000)
			before := heap()
			for i := range engines {
				engines[i], _ = engine.New(engine.Options[[]byte]{})
			}
			b.ReportMetric(float64(heap()-before)/1000, "B/engine")
			runtime.KeepAlive(engines)
		}
	})
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
