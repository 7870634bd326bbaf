package engine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

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

var errPeerGone = errors.New("peer gone")
