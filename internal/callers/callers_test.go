package callers_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/callers"
)

// Every call is made once, by as many at a time as there are callers.
func TestRun(t *testing.T) {
	const n = 8
	var calls atomic.Int64
	r := testing.Benchmark(func(b *testing.B) {
		calls.Store(0)
		first := make(chan struct{})
		if b.N < n {
			close(first)
		}
		callers.Run(b, n, func() error {
			if b.N >= n && calls.Add(1) == n {
				close(first) // all callers are here
			}
			<-first
			return nil
		})
	})
	require.Equal(t, int64(r.N), calls.Load())
}
