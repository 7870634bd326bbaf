package codec_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/invariants"
)

// patient is a stream that has one piece at a time: before each it finds nothing, gives
// its buffer back, and looks at what the reader holds.
type patient struct {
	t      *testing.T
	pieces []string
	then   error
	most   int // the longest buffer that was lent
}

func (p *patient) Read([]byte) (int, error) {
	p.t.Error("a lazy stream was read in haste")
	return 0, io.ErrUnexpectedEOF
}

func (p *patient) ReadLazily(from codec.Lender) (int, error) {
	require.NotEmpty(p.t, from.Lend())
	from.Return()
	if len(p.pieces) == 0 {
		from.Return() // twice does no harm
		return 0, p.then
	}
	b := from.Lend()
	p.most = max(p.most, len(b))
	n := copy(b, p.pieces[0])
	if p.pieces[0] = p.pieces[0][n:]; p.pieces[0] == "" {
		p.pieces = p.pieces[1:]
	}
	return n, nil
}

// The frames of a stream that waits without a buffer are those of any other, whatever is
// half there while it waits.
func TestLazyReader(t *testing.T) {
	reset := errors.New("reset")
	long := `{"jsonrpc":"2.0","method":"` + strings.Repeat("m", 200_000) + `"}`
	for name, split := range map[string]int{"whole": 1 << 20, "in halves": 100_000, "in small pieces": 7} {
		stream := one + "\n" + long + "\n\n" + two + "\n" + strings.Repeat("x", 300_000) + "\n" + one + "\n"
		p := &patient{t: t, then: reset}
		for len(stream) > 0 {
			n := min(split, len(stream))
			p.pieces, stream = append(p.pieces, stream[:n]), stream[n:]
		}
		r := codec.NewReader(p, codec.ReaderOptions{MaxFrame: 250_000})
		for _, want := range []string{one, long, two, "", one} {
			frame, err := r.Next()
			if want == "" {
				require.ErrorIs(t, err, codec.ErrFrameTooLarge, name)
				continue
			}
			require.NoError(t, err, name)
			require.Equal(t, want, string(frame), name)
		}
		for range 2 { // it may have more another time
			_, err := r.Next()
			require.Equal(t, reset, err, name)
		}
		p.pieces, p.then = []string{two[:9], two[9:] + "\n"}, io.EOF
		frame, err := r.Next()
		require.NoError(t, err)
		require.Equal(t, two, string(frame))
		for range 2 {
			_, err := r.Next()
			require.Equal(t, io.EOF, err)
		}
	}
}

// A reader whose stream waits holds no buffer, which is what a thousand of them are for.
func TestLazyReaderWaitsWithoutChunk(t *testing.T) {
	if invariants.Race || invariants.Enabled {
		t.Skip("pools forget under the race detector")
	}
	var readers []*codec.Reader
	memory := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := codec.NewReader(&patient{t: t, pieces: []string{one + "\n"}, then: io.ErrNoProgress}, codec.ReaderOptions{})
			_, err := r.Next()
			require.NoError(t, err)
			_, err = r.Next()
			require.Equal(t, io.ErrNoProgress, err)
			readers = append(readers[:0], r)
		}
	}).AllocedBytesPerOp()
	require.Less(t, memory, int64(2<<10), "4 KiB would be a chunk each: %d readers", len(readers))
}
