package bench

import (
	"fmt"
	"testing"
)

// BenchmarkEngine is the workloads of the check program on our tables.
func BenchmarkEngine(b *testing.B) {
	for _, name := range []string{engineName, callbacksName, stringsName, noDeadlineName, alternatingName} {
		b.Run(name, func(b *testing.B) { benchmarkWindow(b, name) })
	}
}

// BenchmarkRival is the same on the rivals'.
func BenchmarkRival(b *testing.B) {
	for _, name := range []string{naiveName, goSDKName, cardName, cardPooledName} {
		b.Run(name, func(b *testing.B) { benchmarkWindow(b, name) })
	}
}

func benchmarkWindow(b *testing.B, name string) {
	for _, pending := range []int{1_000, 100_000} {
		for _, goroutines := range []int{1, 2, 64} {
			b.Run(fmt.Sprintf("window/pending=%d/goroutines=%d", pending, goroutines), func(b *testing.B) {
				t := tables[name](pending)
				t.fill(pending, true)
				b.ReportAllocs()
				b.ResetTimer()
				t.count(goroutines, b.N)
			})
		}
	}
}
