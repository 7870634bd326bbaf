package engine_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

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
