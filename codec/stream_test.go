package codec_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/correlator-go/correlator/codec"
)

// pieces gives a stream in reads of the given sizes, again from the first one
// when they are used up.
type pieces struct {
	stream  string
	sizes   []int
	turn    int
	eofSoon bool // io.EOF comes with the last bytes, not after them
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.stream == "" {
		return 0, io.EOF
	}
	n := min(len(b), len(p.stream), max(1, p.sizes[p.turn%len(p.sizes)]))
	p.turn++
	copy(b, p.stream[:n])
	if p.stream = p.stream[n:]; p.stream == "" && p.eofSoon {
		return n, io.EOF
	}
	return n, nil
}

// events reads src to its end and tells what came, one line each: a frame in
// quotes, or an error.
func events(src io.Reader, o codec.ReaderOptions) []string {
	var out []string
	for r := codec.NewReader(src, o); ; {
		frame, err := r.Next()
		if err == nil {
			out = append(out, fmt.Sprintf("%q", frame))
			continue
		}
		out = append(out, describe(err))
		if !codec.Recoverable(err) {
			return out
		}
	}
}

func describe(err error) string {
	if bad, ok := errors.AsType[*codec.FrameError](err); ok {
		return fmt.Sprintf("%v prefix %q fatal %t", err, bad.Prefix, bad.Fatal)
	}
	return err.Error()
}

// splits are ways to cut a stream of n bytes into reads.
func splits(n int, seed uint64) []*pieces {
	random := rand.New(rand.NewPCG(seed, 1))
	sizes := make([]int, 64)
	for i := range sizes {
		sizes[i] = 1 + random.IntN(1+min(n, 1<<uint(random.IntN(12))))
	}
	return []*pieces{
		{sizes: []int{1 << 30}},
		{sizes: []int{1 << 30}, eofSoon: true},
		{sizes: []int{1}},
		{sizes: []int{1}, eofSoon: true},
		{sizes: []int{2, 3}},
		{sizes: sizes},
		{sizes: sizes, eofSoon: true},
	}
}
