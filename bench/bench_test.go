package bench

import (
	"fmt"
	"strings"
	"testing"

	"github.com/correlator-go/correlator/bench/rival"
	"github.com/correlator-go/correlator/codec"
)

var (
	ourTables = []string{engineName, callbacksName, stringsName, noDeadlineName, alternatingName}
	rivals    = []string{naiveName, goSDKName, cardName, cardPooledName}
)

// BenchmarkRole is what the check program measures beside the tables, each role's
// values as metrics. They take their own time, whatever b.N is. They come first,
// because the rivals' tables leave timers behind.
func BenchmarkRole(b *testing.B) {
	for _, r := range [][]string{
		{"splice"}, {"framing"}, {"pool"}, {"stop", ourName, "objects"}, {"stop", ourName, "text"}, {"timers", "0"}, {"deadline", "0"}, {"lateness"}, {"idle"},
		{"growth", engineName}, {"growth", mutexMapName}, {"failall"}, {"memory", engineName, "100000"}, {"memory", naiveName, "100000"},
	} {
		b.Run(strings.ReplaceAll(strings.Join(r, "/"), " ", "_"), func(b *testing.B) {
			v, err := Roles()[r[0]](r[1:])
			if err != nil {
				b.Fatal(err)
			}
			for name, value := range v {
				b.ReportMetric(value, strings.ReplaceAll(name, " ", "_"))
			}
		})
	}
}

// BenchmarkConn is calls over a unix socket. Here the echo server shares the
// process, which the check program avoids.
func BenchmarkConn(b *testing.B) {
	at, stop := startEcho(b)
	defer stop()
	for _, kind := range []string{floorName, blockingName, callbacksConnName, batchesName} {
		for _, size := range []string{"100", "4096"} {
			b.Run(kind+"/1024x"+size, func(b *testing.B) {
				v, err := connRole([]string{kind, at, "1024", size, "500ms"})
				if err != nil {
					b.Fatal(err)
				}
				for name, value := range v {
					b.ReportMetric(value, name)
				}
				b.ReportMetric(1e9/v["calls/s"], "ns/op")
			})
		}
	}
}

// BenchmarkEngine is the workloads of the check program on our tables.
func BenchmarkEngine(b *testing.B) { benchmarkTables(b, ourTables) }

// BenchmarkRival is the same on the rivals'.
func BenchmarkRival(b *testing.B) { benchmarkTables(b, rivals) }

func benchmarkTables(b *testing.B, names []string) {
	for _, name := range names {
		for _, pending := range []int{1_000, 100_000} {
			for _, goroutines := range []int{1, 2, 64} {
				b.Run(fmt.Sprintf("%s/window/pending=%d/goroutines=%d", name, pending, goroutines), func(b *testing.B) {
					t := tables[name](pending)
					defer t.close()
					t.fill(pending, true)
					b.ReportAllocs()
					b.ResetTimer()
					t.count(goroutines, b.N)
				})
			}
		}
		for _, callers := range []int{1, 64, 1024} {
			b.Run(fmt.Sprintf("%s/pipe/callers=%d", name, callers), func(b *testing.B) {
				t := tables[name](callers)
				defer t.close()
				b.ReportAllocs()
				t.park(callers, b.N)
			})
		}
	}
}

// BenchmarkScan decodes rotating frames.
func BenchmarkScan(b *testing.B) {
	for _, name := range []string{ourName, stdName, sonicStdName, sonicDefaultName} {
		for _, s := range shapes {
			set := frames(s.shape)
			op := decoding(name, set)
			if op == nil {
				continue
			}
			b.Run(name+"/"+s.letter, func(b *testing.B) {
				b.ReportAllocs()
				for done := 0; done < b.N; done += len(set) {
					op()
				}
			})
		}
	}
}

// BenchmarkEncode makes a request around 192 bytes.
func BenchmarkEncode(b *testing.B) {
	params := []byte(fmt.Sprintf(`{"name":"search","arguments":{"query":"q%0150d"}}`, 7))
	b.Run(ourName, func(b *testing.B) {
		var buf []byte
		b.ReportAllocs()
		for b.Loop() {
			buf = codec.AppendRequest(buf[:0], codec.IntID(7), method, params)
		}
	})
	for name, encode := range map[string]rival.Encoder{stdName: rival.EncodeStd, sonicFastestName: rival.EncodeSonic} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := encode(7, method, params); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
