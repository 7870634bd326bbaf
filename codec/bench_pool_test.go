package codec

import (
	"math"
	"strconv"
	"sync"
	"testing"

	"github.com/valyala/bytebufferpool"

	"github.com/correlator-go/correlator/internal/chunk"
)

// BenchmarkPool takes a buffer, fills it and gives it back, on as many goroutines
// as there are processors: chunks in size classes, one sync.Pool for all sizes,
// and bytebufferpool. In "1%" one buffer of a hundred is of 1 MiB, written at its
// ends only, so that the pool is measured and not the memory.
func BenchmarkPool(b *testing.B) {
	const small, large = 300, 1 << 20
	for _, traffic := range []struct {
		name string
		size func(i int) int
	}{
		{"small", func(int) int { return small }},
		{"1%", func(i int) int {
			if i%100 == 0 {
				return large
			}
			return small
		}},
	} {
		run := func(name string, use func(size int)) {
			b.Run(traffic.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				b.RunParallel(func(p *testing.PB) {
					for i := 0; p.Next(); i++ {
						use(traffic.size(i))
					}
				})
			})
		}
		run("chunks", func(size int) {
			c := chunk.Get(size, math.MaxInt)
			c.B[0], c.B[size-1] = 1, 1
			c.Release(c.Generation())
		})
		var one sync.Pool
		run("sync.Pool", func(size int) {
			p, _ := one.Get().(*[]byte)
			if p == nil {
				p = new([]byte)
			}
			if cap(*p) < size {
				*p = make([]byte, size)
			}
			s := (*p)[:size]
			s[0], s[size-1] = 1, 1
			one.Put(p)
		})
		var pool bytebufferpool.Pool
		run("bytebufferpool", func(size int) {
			p := pool.Get()
			if cap(p.B) < size {
				p.B = make([]byte, size)
			}
			p.B = p.B[:size]
			p.B[0], p.B[size-1] = 1, 1
			pool.Put(p)
		})
	}
}

// BenchmarkRetain holds a message and lets it go.
func BenchmarkRetain(b *testing.B) {
	for _, size := range []int{64, 500, 4000, 60_000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			c := chunk.Get(64<<10, math.MaxInt)
			m := Message{frame: c.B[headroom : headroom+size], chunk: c, lease: lease{generation: c.Generation()}}
			b.ReportAllocs()
			for b.Loop() {
				held := m
				held.Retain()
				held.Release()
			}
		})
	}
}
