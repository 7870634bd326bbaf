package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

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
