package wheel_test

import (
	"fmt"
	"testing"

	"github.com/correlator-go/correlator/wheel"
)

// BenchmarkScheduleCancel arms and cancels one deadline with others resident.
func BenchmarkScheduleCancel(b *testing.B) {
	for _, resident := range []int{0, 1_000_000} {
		b.Run(fmt.Sprintf("resident=%d", resident), func(b *testing.B) {
			w := wheel.New(0)
			w.Grow(resident + 1)
			for i := range uint32(resident) {
				w.Schedule(i, wheel.Tick(30_000+i%1000))
			}
			b.ReportAllocs()
			for b.Loop() {
				w.Schedule(uint32(resident), 30_000)
				w.Cancel(uint32(resident))
			}
		})
	}
}

// BenchmarkLife is the whole life of an entry: scheduled, moved from level to
// level, handed out. The time is per entry.
func BenchmarkLife(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			w := wheel.New(0)
			w.Grow(n)
			buf := make([]uint32, 0, 512)
			b.ReportAllocs()
			for b.Loop() {
				at := w.Now() + 30_000
				for i := range uint32(n) {
					w.Schedule(i, at)
				}
				for w.Len() > 0 {
					w.Advance(at, buf)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entry")
		})
	}
}

// BenchmarkAdvanceIdle passes a tick with nothing to do and a million resident.
func BenchmarkAdvanceIdle(b *testing.B) {
	w := wheel.New(0)
	w.Grow(1_000_000)
	for i := range uint32(1_000_000) {
		w.Schedule(i, 1<<30)
	}
	buf := make([]uint32, 0, 512)
	for b.Loop() {
		w.Advance(w.Now(), buf)
		w.Next()
	}
}
