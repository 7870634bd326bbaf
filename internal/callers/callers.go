package callers

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/correlator-go/correlator/internal/cputime"
)

// Run makes b.N calls with n goroutines, and stops the clock behind the last. The
// first error of a goroutine fails b and ends the goroutine. Beside time and
// allocations Run reports the processor's time of this process a call, which other
// programs disturb less, where the system tells it.
func Run(b *testing.B, n int, call func() error) {
	b.Helper()
	b.ReportAllocs()
	var (
		next atomic.Int64
		all  sync.WaitGroup
	)
	before, _ := cputime.Used()
	b.ResetTimer()
	for range n {
		all.Go(func() {
			for next.Add(1) <= int64(b.N) {
				if err := call(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	if after, known := cputime.Used(); known {
		b.ReportMetric(float64(after-before)/float64(b.N), "cpu-ns/op")
	}
}
