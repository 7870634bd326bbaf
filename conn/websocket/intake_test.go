package websocket

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
)

// lazily makes a LazyReader of any reader.
type lazily struct{ io.Reader }

func (l lazily) ReadLazily(from codec.Lender) (int, error) {
	from.Return() // as one does that waits first
	return l.Read(from.Lend())
}

// frame is one with a payload of n bytes.
func frame(n int, masked bool) []byte {
	b := []byte{0x81}
	switch {
	case n < 126:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	if masked {
		b[1] |= 0x80
		b = append(b, 1, 2, 3, 4)
	}
	return append(b, bytes.Repeat([]byte{'x'}, n)...)
}

func TestFrameSize(t *testing.T) {
	for _, n := range []int{0, 1, 125, 126, 65535, 65536, 1 << 20} {
		for _, masked := range []bool{false, true} {
			f := frame(n, masked)
			header := len(f) - n
			for short := range header {
				require.Zero(t, frameSize(f[:short]), "%d bytes of the header of %d", short, n)
			}
			require.EqualValues(t, len(f), frameSize(f[:header]))
		}
	}
	require.EqualValues(t, 10+5, frameSize([]byte{0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, 5}), "the highest bit is the library's to refuse")
}

// However the stream splits and joins the bytes, no read gives those of two frames, none
// is lost, and the end comes behind them.
func TestIntakeKeepsFramesApart(t *testing.T) {
	frames := [][]byte{frame(0, true), frame(5, true), frame(300, false), frame(70_000, true), frame(2, true), frame(125, true)}
	all := slices.Concat(frames...)
	for name, src := range map[string]io.Reader{
		"as it comes":        bytes.NewReader(all[40:]),
		"byte by byte":       iotest.OneByteReader(bytes.NewReader(all[40:])),
		"the end comes with": iotest.DataErrReader(bytes.NewReader(all[40:])),
	} {
		for _, size := range []int{1, 16, 100_000} {
			in := newIntake(lazily{src}, all[:40])
			for _, f := range frames {
				for got := []byte(nil); len(got) < len(f); {
					p := make([]byte, size)
					n, cut, err := in.read(p)
					require.NoError(t, err, name)
					require.False(t, cut)
					got = append(got, p[:n]...)
					require.Equal(t, f[:len(got)], got, name)
				}
			}
			_, cut, err := in.read(make([]byte, size))
			require.Equal(t, io.EOF, err)
			require.True(t, cut)
			require.Nil(t, in.buffer, "who waits has no buffer")
			src = bytes.NewReader(all[40:])
		}
	}
}

// Who looks for a message is told that there is none yet, unless the peer's close frame is awaited.
func TestIntakeIsIdleBetweenFrames(t *testing.T) {
	f := frame(3, true)
	in := newIntake(lazily{bytes.NewReader(nil)}, f)
	in.between.Store(true)
	n, _, err := in.read(make([]byte, 100))
	require.NoError(t, err)
	require.Equal(t, len(f), n)
	_, cut, err := in.read(make([]byte, 100))
	require.Equal(t, errIdle, err)
	require.False(t, cut)
	in.parting.Store(true)
	_, cut, err = in.read(make([]byte, 100))
	require.Equal(t, io.EOF, err)
	require.True(t, cut)
}
