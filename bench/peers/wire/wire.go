package wire

import (
	"fmt"
	"runtime"
	"time"

	"github.com/correlator-go/correlator/internal/frameset"
)

// The libraries.
const (
	Ours       = "codec"
	JSONv2     = "json v2"
	JSONv2Kept = "json v2, buffers reused"
	JSONParser = "jsonparser"
	Segmentio  = "segmentio"
	GoSDK      = "go-sdk"
	JRPC2      = "jrpc2"
)

// Libraries lists them, ours first.
func Libraries() []string {
	return []string{Ours, JSONv2, JSONv2Kept, JSONParser, Segmentio, GoSDK, JRPC2}
}

// The shapes that are read.
const (
	Response = "A, response of 39 bytes"
	Request  = "B, request of 295 bytes"
	Text     = "C, 1.1 KiB of text"
	Nested   = "D, 16 KiB nested"
	Mix      = "mix, 560 bytes"
	Objects  = "1 MiB of objects"
)

// What else is done.
const (
	SpliceA = "read, change the id, write: A"
	SpliceB = "read, change the id, write: B"
	SpliceC = "read, change the id, write: C"
	Encode  = "write a request of 192 bytes"
	Header  = "cut frames by Content-Length"
	Lines   = "cut and read lines, mixed"
)

// reads are the frames of each shape.
var reads = []struct {
	name  string
	shape frameset.Shape
	n     int
}{
	{Response, frameset.Response, frameset.Rotation}, {Request, frameset.Request, frameset.Rotation},
	{Text, frameset.Text, frameset.Rotation}, {Nested, frameset.Nested, frameset.Rotation},
	{Mix, frameset.Mix, frameset.Rotation}, {Objects, frameset.Objects, 8},
}

// Shapes lists everything that is measured, in order.
func Shapes() []string {
	var out []string
	for _, r := range reads {
		out = append(out, r.name)
	}
	return append(out, SpliceA, SpliceB, SpliceC, Encode, Header, Lines)
}

// op is one piece of work: it handles so many frames.
type op struct {
	frames int
	run    func() error
}

// over reads a whole set with a function of one frame.
func over(set [][]byte, read func(frame []byte) error) op {
	return op{len(set), func() error {
		for _, f := range set {
			if err := read(f); err != nil {
				return err
			}
		}
		return nil
	}}
}

// Does reports whether a library has something for a shape.
func Does(library, shape string) bool {
	return opOf(library, shape) != nil
}

// Measure times what a library does with a shape for about d: nanoseconds and
// allocations a frame.
func Measure(library, shape string, d time.Duration) (ns, allocs float64, err error) {
	build := opOf(library, shape)
	if build == nil {
		return 0, 0, fmt.Errorf("%s has nothing for %q", library, shape)
	}
	return build().measure(d)
}

// measure runs o for about d.
func (o op) measure(d time.Duration) (ns, allocs float64, err error) {
	if err := o.run(); err != nil { // JIT compilers, pools
		return 0, 0, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began, turns := time.Now(), 0
	for turns == 0 || time.Since(began) < d {
		if err := o.run(); err != nil {
			return 0, 0, err
		}
		turns++
	}
	elapsed := time.Since(began)
	runtime.ReadMemStats(&after)
	n := float64(turns * o.frames)
	return float64(elapsed) / n, float64(after.Mallocs-before.Mallocs) / n, nil
}
