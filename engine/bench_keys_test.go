package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/engine"
)

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
