package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

// naive is what a program writes first: a map under a mutex, a channel and a timer
// per call.
type naive struct {
	mu      sync.Mutex
	next    uint64
	pending map[uint64]*naiveCall
}

type naiveCall struct {
	id     uint64
	method string
	start  time.Time
	timer  *time.Timer
	done   chan []byte
}

func newNaive() *naive { return &naive{pending: map[uint64]*naiveCall{}} }

func (n *naive) begin(method string, timeout time.Duration) *naiveCall {
	c := &naiveCall{method: method, start: time.Now(), done: make(chan []byte, 1)}
	n.mu.Lock()
	n.next++
	c.id = n.next
	n.pending[c.id] = c
	n.mu.Unlock()
	c.timer = time.AfterFunc(timeout, func() { n.resolve(c.id, nil) })
	return c
}

func (n *naive) resolve(id uint64, v []byte) bool {
	n.mu.Lock()
	c, ok := n.pending[id]
	delete(n.pending, id)
	n.mu.Unlock()
	if !ok {
		return false
	}
	c.timer.Stop()
	c.done <- v
	return true
}

// window keeps pending calls in flight, divided among the goroutines; an operation
// settles a random one of its own, takes its outcome, and begins another.
func window(b *testing.B, pending, goroutines int, makeWorker func(n int) func()) {
	b.Helper()
	workers := make([]func(), goroutines)
	for i := range workers {
		workers[i] = makeWorker(pending / goroutines)
	}
	b.ReportAllocs()
	b.ResetTimer()
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	for _, step := range workers {
		wg.Go(func() {
			const portion = 256
			for {
				n := min(left.Add(-portion)+portion, portion)
				if n <= 0 {
					return
				}
				for range n {
					step()
				}
			}
		})
	}
	wg.Wait()
}

var payload = []byte(`{"ok":true}`)

func naiveWorker(n *naive) func(int) func() {
	return func(size int) func() {
		rng := rand.New(rand.NewPCG(1, uint64(size)))
		calls := make([]*naiveCall, size)
		for i := range calls {
			calls[i] = n.begin("tools/call", 30*time.Second)
		}
		return func() {
			i := rng.IntN(size)
			c := calls[i]
			n.resolve(c.id, payload)
			<-c.done
			calls[i] = n.begin("tools/call", 30*time.Second)
		}
	}
}

func engineWorker(b *testing.B, e *engine.Engine[[]byte], o engine.CallOptions[[]byte]) func(int) func() {
	return func(size int) func() {
		rng := rand.New(rand.NewPCG(1, uint64(size)))
		ctx := context.Background()
		calls := make([]engine.Call[[]byte], size)
		for i := range calls {
			calls[i], _ = e.Begin(ctx, o)
		}
		return func() {
			i := rng.IntN(size)
			c := calls[i]
			e.Resolve(c.ID(), payload)
			if _, err := c.Wait(ctx); err != nil {
				b.Error(err)
			}
			calls[i], _ = e.Begin(ctx, o)
		}
	}
}

func callbackWorker(e *engine.Engine[[]byte], o engine.CallOptions[[]byte]) func(int) func() {
	return func(size int) func() {
		rng := rand.New(rand.NewPCG(1, uint64(size)))
		ctx := context.Background()
		ids := make([]codec.ID, size)
		var got atomic.Int64
		o.Notify = func(engine.Outcome[[]byte]) { got.Add(1) }
		for i := range ids {
			c, _ := e.Begin(ctx, o)
			ids[i] = c.ID()
		}
		return func() {
			i := rng.IntN(size)
			e.Resolve(ids[i], payload)
			c, _ := e.Begin(ctx, o)
			ids[i] = c.ID()
		}
	}
}

func newEngine(b *testing.B, pending int) *engine.Engine[[]byte] {
	e, err := engine.New(engine.Options[[]byte]{MaxPending: max(2*pending, 1<<16), IdleTimeout: 20 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close() })
	return e
}

func BenchmarkWindow(b *testing.B) {
	full := engine.CallOptions[[]byte]{Method: "tools/call", Timeout: 30 * time.Second, IdleTimeout: 20 * time.Second}
	total := engine.CallOptions[[]byte]{Method: "tools/call", Timeout: 30 * time.Second, IdleTimeout: engine.NoTimeout}
	bare := engine.CallOptions[[]byte]{Timeout: engine.NoTimeout, IdleTimeout: engine.NoTimeout}
	for _, pending := range []int{1000, 100_000, 1_000_000} {
		for _, goroutines := range []int{1, 2, 64} {
			name := func(kind string) string { return fmt.Sprintf("%s/pending=%d/goroutines=%d", kind, pending, goroutines) }
			b.Run(name("naive"), func(b *testing.B) { window(b, pending, goroutines, naiveWorker(newNaive())) })
			b.Run(name("full"), func(b *testing.B) {
				window(b, pending, goroutines, engineWorker(b, newEngine(b, pending), full))
			})
			b.Run(name("total"), func(b *testing.B) {
				window(b, pending, goroutines, engineWorker(b, newEngine(b, pending), total))
			})
			b.Run(name("bare"), func(b *testing.B) {
				window(b, pending, goroutines, engineWorker(b, newEngine(b, pending), bare))
			})
			b.Run(name("callback"), func(b *testing.B) {
				window(b, pending, goroutines, callbackWorker(newEngine(b, pending), full))
			})
		}
	}
}
