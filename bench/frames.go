package bench

import (
	"io"

	"github.com/correlator-go/correlator/internal/frameset"
)

// The shapes of frames that claims are about, by the letter they go by, and how many
// frames of each a set has.
var shapes = []struct {
	letter string
	shape  frameset.Shape
	frames int
}{
	{"A", frameset.Response, frameset.Rotation}, {"B", frameset.Request, frameset.Rotation},
	{"C", frameset.Text, frameset.Rotation}, {"D", frameset.Nested, frameset.Rotation},
	{"mix", frameset.Mix, frameset.Rotation},
	{"E1", frameset.Base64, 8}, {"E2", frameset.Prose, 8}, {"E3", frameset.Wide, 8}, {"F", frameset.Objects, 8},
}

func frames(s frameset.Shape) [][]byte { return frameset.Make(s, 1, frameset.Rotation) }

// stream repeats bytes for ever, in reads of at most readSize.
type stream struct {
	bytes []byte
	at    int
}

const readSize = 64 << 10

// Read fills as much of p as one read of a socket would.
func (s *stream) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), readSize)], s.bytes[s.at:])
	if s.at += n; s.at == len(s.bytes) {
		s.at = 0
	}
	return n, nil
}

var _ io.Reader = (*stream)(nil)

// lines is a stream of mixed frames, each ended by a newline; headed the same,
// each behind its length in four bytes. Both are longer than any cache of branch
// predictions.
func lines() *stream {
	var b []byte
	for _, f := range frameset.Make(frameset.Mix, 2, 10*frameset.Rotation) {
		b = append(append(b, f...), '\n')
	}
	return &stream{bytes: b}
}

func headed() *stream {
	var b []byte
	for _, f := range frameset.Make(frameset.Mix, 2, 10*frameset.Rotation) {
		n := len(f)
		b = append(b, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
		b = append(b, f...)
	}
	return &stream{bytes: b}
}
