package frameset

import (
	"math/rand/v2"
	"strconv"
)

// Rotation is how many different frames a benchmark should rotate through: well
// above what a branch predictor learns by heart, and whole shares for Mix.
const Rotation = 100

// Shape says what the frames of a set look like.
type Shape uint8

// The shapes; sizes are means.
const (
	Response Shape = iota // A: a response of 39 bytes
	Request               // B: a request of 295 bytes with params._meta.progressToken
	Text                  // C: a result that carries 1 KiB of text with escapes, 1.1 KiB in all
	Nested                // D: a result of 16.5 KiB: lists of small objects
	Mix                   // 40 % A, 35 % B, 24 % C, 1 % D, shuffled: 560 bytes
	Base64                // a result around 1 MiB of base64 in one string
	Prose                 // a result around 1 MiB of ASCII text, an escape every 95 bytes
	Wide                  // a result around 1 MiB of Chinese and Cyrillic text
	Objects               // a result around 1 MiB of small objects
)

// Shapes lists the shapes that ordinary traffic has.
func Shapes() []Shape { return []Shape{Response, Request, Text, Nested, Mix} }

// Large lists the shapes of 1 MiB. A set of 8 is plenty there.
func Large() []Shape { return []Shape{Base64, Prose, Wide, Objects} }

// String gives the short name that benchmarks use.
func (s Shape) String() string {
	names := [...]string{"A39B", "B295B", "C1KiB", "D16KiB", "mix", "base64", "prose", "wide", "objects"}
	if int(s) < len(names) {
		return names[s]
	}
	return "Shape(" + strconv.Itoa(int(s)) + ")"
}

// Make returns n different frames of shape s, the same ones for the same seed.
// The caller owns them; each has its own memory. A Mix has its
// exact shares when n is a multiple of 100. Make panics on an unknown shape.
func Make(s Shape, seed uint64, n int) [][]byte {
	m := maker{rand.New(rand.NewPCG(seed, uint64(s)+1))}
	frames := make([][]byte, n)
	for i := range frames {
		shape := s
		if s == Mix {
			shape = mixed(i)
		}
		frames[i] = m.frame(shape)
	}
	m.Shuffle(n, func(i, j int) { frames[i], frames[j] = frames[j], frames[i] })
	return frames
}

// mixed deals shapes so that each hundred holds exactly the shares of Mix.
func mixed(i int) Shape {
	switch i %= 100; {
	case i == 50:
		return Nested
	case i*41%100 < 40:
		return Response
	case i*41%100 < 75:
		return Request
	}
	return Text
}

// Bytes is the size of a set, for testing.B.SetBytes after division by its length.
func Bytes(frames [][]byte) int {
	n := 0
	for _, f := range frames {
		n += len(f)
	}
	return n
}
