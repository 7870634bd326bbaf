package codec_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
)

func TestReaderGivesUpOnAStreamThatGivesNothing(t *testing.T) {
	calls := 0
	r := codec.NewReader(readerFunc(func([]byte) (int, error) { calls++; return 0, nil }), codec.ReaderOptions{})
	_, err := r.Next()
	require.Equal(t, io.ErrNoProgress, err)
	require.Equal(t, 100, calls)
	require.False(t, codec.Recoverable(err))
}

// A read that fails, a deadline for one, loses nothing: the next call goes on.
func TestReaderGoesOnAfterAnErrorOfTheStream(t *testing.T) {
	refused := errors.New("not now")
	turn := 0
	r := codec.NewReader(readerFunc(func(p []byte) (int, error) {
		switch turn++; turn {
		case 1:
			return copy(p, one+"\n"+two[:10]), refused
		case 2:
			return 0, refused
		case 3:
			return copy(p, two[10:]+"\n"), nil
		}
		return 0, io.EOF
	}), codec.ReaderOptions{})
	frame, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, one, string(frame))
	for range 2 {
		_, err = r.Next()
		require.Equal(t, refused, err)
	}
	frame, err = r.Next()
	require.NoError(t, err)
	require.Equal(t, two, string(frame))
	for range 2 {
		_, err = r.Next()
		require.Equal(t, io.EOF, err)
	}
}

func TestReaderWithTestingReaders(t *testing.T) {
	stream := one + "\n" + two + "\r\n"
	for _, src := range []io.Reader{
		iotest.OneByteReader(strings.NewReader(stream)),
		iotest.HalfReader(strings.NewReader(stream)),
		iotest.DataErrReader(strings.NewReader(stream)),
	} {
		require.Equal(t, append(quoted(one, two), "EOF"), events(src, codec.ReaderOptions{}))
	}
	_, err := codec.NewReader(iotest.TimeoutReader(strings.NewReader("x")), codec.ReaderOptions{}).Next()
	require.Equal(t, iotest.ErrTimeout, err)
}

func TestReaderRefusesAnImpossibleCount(t *testing.T) {
	for _, n := range []int{-1, 1 << 30} {
		r := codec.NewReader(readerFunc(func([]byte) (int, error) { return n, nil }), codec.ReaderOptions{})
		require.Panics(t, func() { _, _ = r.Next() })
	}
}

// The end of a line is looked for once in each byte, however the bytes come.
func TestOneByteReadsOfALongLineAreLinear(t *testing.T) {
	const size = 300_000
	f := &watched{}
	src := &pieces{stream: `"` + strings.Repeat("x", size) + `"` + "\n", sizes: []int{1}}
	frame, err := codec.NewReader(src, codec.ReaderOptions{Framer: f}).Next()
	require.NoError(t, err)
	require.Len(t, frame, size+2)
	require.LessOrEqual(t, f.looked, 2*size)
}

// watched is a LineFramer in disguise, without Resync, that counts its work.
type watched struct {
	line   codec.LineFramer
	looked int
}

func (w *watched) Cut(data []byte, scanned int, atEOF bool, maxFrame int) (codec.Cut, error) {
	w.looked += len(data) - scanned
	return w.line.Cut(data, scanned, atEOF, maxFrame)
}
func (w *watched) Open(dst []byte) []byte                     { return w.line.Open(dst) }
func (w *watched) Seal(dst []byte, start int) ([]byte, error) { return w.line.Seal(dst, start) }

func TestFramerOfAnotherPackage(t *testing.T) {
	long := strings.Repeat("x", 100)
	got := events(strings.NewReader(one+"\n"+two+"\n"), codec.ReaderOptions{Framer: &watched{}})
	require.Equal(t, append(quoted(one, two), "EOF"), got)

	// Without Resync there is no way on from the middle of a frame.
	r := codec.NewReader(strings.NewReader(long), codec.ReaderOptions{Framer: &watched{}, MaxFrame: 50})
	_, err := r.Next()
	require.ErrorIs(t, err, codec.ErrFrameTooLarge)
	require.False(t, codec.Recoverable(err))
}

// greedy wants ever more.
type greedy struct{ watched }

func (*greedy) Cut([]byte, int, bool, int) (codec.Cut, error) { return codec.Cut{}, nil }

func TestFramerThatNeverEndsAFrameIsStopped(t *testing.T) {
	offered := 0
	r := codec.NewReader(readerFunc(func(p []byte) (int, error) {
		offered += len(p)
		return len(p), nil
	}), codec.ReaderOptions{Framer: &greedy{}, MaxFrame: 1 << 20})
	_, err := r.Next()
	require.ErrorIs(t, err, codec.ErrFrameTooLarge)
	require.False(t, codec.Recoverable(err))
	require.LessOrEqual(t, offered, 1<<20+64<<10)

	_, err = codec.NewReader(strings.NewReader("abc"), codec.ReaderOptions{Framer: &greedy{}}).Next()
	require.Equal(t, io.ErrUnexpectedEOF, err)
}

type reckless struct{ watched }

func (*reckless) Cut(data []byte, _ int, _ bool, _ int) (codec.Cut, error) {
	return codec.Cut{End: len(data) + 1, Advance: len(data) + 1}, nil
}

func TestFramerThatCutsBeyondTheDataPanics(t *testing.T) {
	r := codec.NewReader(strings.NewReader("abc"), codec.ReaderOptions{Framer: &reckless{}})
	require.Panics(t, func() { _, _ = r.Next() })
}

func TestBuffered(t *testing.T) {
	long := strings.Repeat("x", 100)
	src := &pieces{stream: "\n" + one + "\n \n" + two + "\n" + long + "\n" + two[:9], sizes: []int{1 << 20}}
	r := codec.NewReader(src, codec.ReaderOptions{MaxFrame: 64})
	require.Zero(t, r.Buffered(), "nothing was read yet")
	frame, err := r.Next()
	require.NoError(t, err)
	for range 2 {
		require.Equal(t, len(two), r.Buffered())
	}
	require.Equal(t, one, string(frame), "asking leaves what is borrowed alone")
	frame, err = r.Next()
	require.NoError(t, err)
	require.Equal(t, two, string(frame))
	require.Positive(t, r.Buffered(), "an error waits")
	_, err = r.Next()
	require.ErrorIs(t, err, codec.ErrFrameTooLarge)
	require.Zero(t, r.Buffered(), "the last frame is not whole")
	_, err = r.Next()
	require.Equal(t, io.ErrUnexpectedEOF, err)
	require.Zero(t, r.Buffered())
}

func TestBufferedWhileALineIsSkipped(t *testing.T) {
	src := &pieces{stream: strings.Repeat("x", 100) + "\n" + two + "\n", sizes: []int{90, 5, 1 << 20}}
	r := codec.NewReader(src, codec.ReaderOptions{MaxFrame: 64})
	_, err := r.Next()
	require.ErrorIs(t, err, codec.ErrFrameTooLarge)
	require.Zero(t, r.Buffered())
	frame, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, two, string(frame))
}

// A stream that runs is read in large pieces, one that pauses waits in a small
// buffer: 10,000 idle connections hold 40 MiB, whatever they carried before.
func TestIdleReaderWaitsInASmallChunk(t *testing.T) {
	var offered []int
	burst := strings.Repeat(one+"\n", 20_000)
	for _, options := range []codec.ReaderOptions{{}, {ChunkSize: 16 << 10}, {ChunkSize: 1000}} {
		offered = offered[:0]
		src := &pieces{stream: burst, sizes: []int{1 << 30}}
		r := codec.NewReader(readerFunc(func(p []byte) (int, error) {
			offered = append(offered, len(p))
			return src.Read(p)
		}), options)
		for range 20_000 {
			_, err := r.Next()
			require.NoError(t, err)
		}
		largest := 0
		for _, n := range offered {
			largest = max(largest, n)
		}
		size := options.ChunkSize
		if size == 0 {
			size = 64 << 10
		}
		require.LessOrEqual(t, offered[0], 4<<10)
		require.Greater(t, largest, size*9/10)
		require.LessOrEqual(t, largest, max(size, 1<<10))
		_, err := r.Next()
		require.Equal(t, io.EOF, err)
		require.LessOrEqual(t, offered[len(offered)-1], 4<<10)
	}
}

func TestReaderOfBatch(t *testing.T) {
	r := codec.NewReader(strings.NewReader("["+one+","+two+"]\n"+one+"\n"), codec.ReaderOptions{})
	var m codec.Message
	require.ErrorIs(t, r.ReadMessage(&m), codec.ErrBatch)
	var elements []string
	for element, err := range codec.SplitBatch(m.Frame(), codec.ScanOptions{}) {
		require.NoError(t, err)
		elements = append(elements, string(element))
	}
	require.Equal(t, []string{one, two}, elements)
	require.NoError(t, r.ReadMessage(&m))
	require.Equal(t, codec.IntID(1), m.ID())
}
