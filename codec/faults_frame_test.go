package codec_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/invariants"
)

// readerFunc makes a function an io.Reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestC01LineLongerThan64KiB(t *testing.T) {
	for _, n := range []int{4095, 4096, 4097, 65534, 65535, 65536, 65537, 1<<20 - 1, 1 << 20, 1<<20 + 1} {
		long := `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("a", n-36) + `"}`
		require.Len(t, long, n)
		for _, sizes := range [][]int{{1 << 30}, {1 + n/100_000}, {4096}} {
			src := &pieces{stream: long + "\n" + two + "\n", sizes: sizes}
			require.Equal(t, append(quoted(long, two), "EOF"), events(src, codec.ReaderOptions{}))
		}
	}
}

func TestC01LineAboveTheMaximum(t *testing.T) {
	const most = 1 << 20
	given, endOfLine := 0, false
	src := readerFunc(func(p []byte) (int, error) {
		if given > 8*most {
			if endOfLine {
				return 0, io.EOF
			}
			endOfLine = true
			return copy(p, "\n"+two+"\n"), nil
		}
		// What is offered lies behind what was given: together the whole buffer.
		require.LessOrEqual(t, min(given, most)+len(p), most+64<<10)
		for i := range p {
			p[i] = 'x'
		}
		given += len(p)
		return len(p), nil
	})
	r := codec.NewReader(src, codec.ReaderOptions{MaxFrame: most})
	_, err := r.Next()
	require.ErrorIs(t, err, codec.ErrFrameTooLarge)
	require.True(t, codec.Recoverable(err))
	require.Less(t, given, most+128<<10, "the error does not wait for the end of the line")
	frame, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, two, string(frame))
	_, err = r.Next()
	require.Equal(t, io.EOF, err)
}

func TestC02TwoReadersOnOneStream(t *testing.T) {
	var r *codec.Reader
	stream := &pieces{stream: strings.Repeat("x", 10_000) + "\n" + strings.Repeat("y", 20) + "\n", sizes: []int{4096}}
	intruders := 0
	r = codec.NewReader(readerFunc(func(p []byte) (int, error) {
		errs := make(chan error)
		go func() {
			_, err := r.Next()
			errs <- err
			var m codec.Message
			errs <- r.ReadMessage(&m)
			if r.Buffered() != 0 {
				errs <- errors.New("Buffered looked into a reader at work")
			}
			errs <- codec.ErrConcurrentRead
		}()
		for range 3 {
			require.ErrorIs(t, <-errs, codec.ErrConcurrentRead)
		}
		intruders++
		return stream.Read(p)
	}), codec.ReaderOptions{})
	for _, want := range []string{strings.Repeat("x", 10_000), strings.Repeat("y", 20)} {
		frame, err := r.Next()
		require.NoError(t, err)
		require.Equal(t, want, string(frame))
	}
	_, err := r.Next()
	require.Equal(t, io.EOF, err)
	require.Greater(t, intruders, 3)
}

// Two goroutines at one reader: each frame comes once and whole, to one of them.
func TestC02TwoGoroutinesAtOneReader(t *testing.T) {
	const rounds = 50
	line := strings.Repeat("x", 10_000) + "\n" + strings.Repeat("y", 20) + "\n"
	r := codec.NewReader(&pieces{stream: strings.Repeat(line, rounds), sizes: []int{4096}}, codec.ReaderOptions{})
	var got [2]map[int]int // frames by length: their bytes are borrowed until anybody's next call
	var readers sync.WaitGroup
	for i := range got {
		got[i] = map[int]int{}
		readers.Go(func() {
			for {
				frame, err := r.Next()
				switch {
				case errors.Is(err, codec.ErrConcurrentRead):
					runtime.Gosched()
				case err != nil:
					if !errors.Is(err, io.EOF) {
						t.Errorf("reader %d: %v", i, err)
					}
					return
				default:
					got[i][len(frame)]++
				}
			}
		})
	}
	readers.Wait()
	require.Equal(t, rounds, got[0][10_000]+got[1][10_000])
	require.Equal(t, rounds, got[0][20]+got[1][20])
	require.LessOrEqual(t, len(got[0])+len(got[1]), 4, "no frame of another length")
}

func TestC03CRLF(t *testing.T) {
	stream := one + "\r\n\r\n" + two + "\r\n"
	for at := range stream {
		src := &pieces{stream: stream, sizes: []int{at, 1 << 30}}
		require.Equal(t, append(quoted(one, two), "EOF"), events(src, codec.ReaderOptions{}))
	}
}

func TestC07LineThatIsNotUTF8(t *testing.T) {
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	inString := `{"jsonrpc":"2.0","id":7,"method":"log","params":{"text":"a` + "\xff" + `b"}}`
	r := codec.NewReader(strings.NewReader("\xff\xfe\n"+inString+"\n"+ping+"\n"), codec.ReaderOptions{})
	var m codec.Message
	for _, bad := range []string{"\xff\xfe", inString} {
		err := r.ReadMessage(&m)
		syntax, ok := errors.AsType[*codec.SyntaxError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, codec.CodeParse, syntax.Code)
		require.True(t, codec.Recoverable(err))
		require.Equal(t, bad, string(m.Frame()), "shown as it came, not corrected")
	}
	require.Equal(t, "7", string(m.RawID()))
	require.NoError(t, r.ReadMessage(&m))
	require.Equal(t, "ping", string(m.Method()))
	require.Equal(t, io.EOF, r.ReadMessage(&m))
	require.Empty(t, m.Frame())
}

func TestC09LengthInBytes(t *testing.T) {
	chinese := `{"jsonrpc":"2.0","id":1,"result":"测试"}`
	stream := "Content-Length: 42\r\n\r\n" + chinese + "Content-Length: 38\r\n\r\n" + two
	for _, src := range splits(len(stream), 9) {
		src.stream = stream
		require.Equal(t, append(quoted(chinese, two), "EOF"), events(src, codec.ReaderOptions{Framer: codec.HeaderFramer{}}))
	}
	f := codec.HeaderFramer{}
	sealed, err := f.Seal(append(f.Open(nil), chinese...), 0)
	require.NoError(t, err)
	require.Equal(t, "Content-Length: 42\r\n\r\n"+chinese, string(sealed))
}

func TestC11HostileLength(t *testing.T) {
	type hostile struct {
		framer codec.Framer
		stream string
		want   error
		size   uint64
	}
	cases := []hostile{
		{codec.LengthFramer{}, "\xff\xff\xff\xff", codec.ErrFrameTooLarge, 1<<32 - 1},
		{codec.LengthFramer{}, "\x80\x00\x00\x00", codec.ErrFrameTooLarge, 1 << 31},
	}
	for value, size := range map[string]uint64{
		"-1": 0, "+5": 0, "0x10": 0, "1e3": 0, "": 0, "5 5": 0, "5,5": 0, "\u0665": 0,
		"281474976710657":       281474976710657,
		"9000000000000000000":   9000000000000000000,
		"18446744073709551616":  1<<64 - 1,
		"99999999999999999999":  1<<64 - 1,
		strings.Repeat("9", 99): 1<<64 - 1,
	} {
		want := codec.ErrFrameTooLarge
		if size == 0 {
			want = codec.ErrBadHeader
		}
		cases = append(cases, hostile{codec.HeaderFramer{}, "Content-Length: " + value + "\r\n\r\n", want, size})
	}
	for _, c := range cases {
		for _, most := range []int{0, -1, 1 << 20} {
			reads := 0
			r := codec.NewReader(readerFunc(func(p []byte) (int, error) {
				require.Zero(t, reads, "nothing is waited for after %q", c.stream)
				require.LessOrEqual(t, len(p), 64<<10)
				reads++
				return copy(p, c.stream), nil
			}), codec.ReaderOptions{Framer: c.framer, MaxFrame: most})
			for range 2 { // the end is the end
				_, err := r.Next()
				require.ErrorIs(t, err, c.want, "%q", c.stream)
				bad, _ := errors.AsType[*codec.FrameError](err)
				require.True(t, bad.Fatal)
				require.Equal(t, c.size, bad.Size, "%q", c.stream)
				require.False(t, codec.Recoverable(err))
			}
		}
	}
}

// A length that is allowed, but only announced, buys no memory.
func TestC11LargeLengthGrowsInSteps(t *testing.T) {
	for _, c := range []struct {
		framer codec.Framer
		head   string
	}{
		{codec.HeaderFramer{}, "Content-Length: 16000000\r\n\r\n"},
		{codec.LengthFramer{}, "\x00\xf4\x24\x00"},
	} {
		given := 0
		src := readerFunc(func(p []byte) (int, error) {
			require.LessOrEqual(t, given+len(p), max(64<<10, 8*given))
			n := min(len(p), 50_000)
			if given == 0 {
				n = copy(p, c.head)
			}
			given += n
			return n, nil
		})
		frame, err := codec.NewReader(src, codec.ReaderOptions{Framer: c.framer}).Next()
		require.NoError(t, err)
		require.Len(t, frame, 16_000_000)
	}
}

func TestC19ByteOrderMark(t *testing.T) {
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, stream := range []string{bom + ping + "\n", "\n" + bom + ping + "\n", bom + ping + "\r\n" + bom + ping} {
		for _, src := range splits(len(stream), 19) {
			src.stream = stream
			r := codec.NewReader(src, codec.ReaderOptions{})
			var m codec.Message
			require.NoError(t, r.ReadMessage(&m))
			require.Equal(t, ping, string(m.Frame()))
		}
	}
	for _, f := range []codec.Framer{codec.LineFramer{}, codec.HeaderFramer{}, codec.LengthFramer{}} {
		sealed, err := f.Seal(append(f.Open(nil), ping...), 0)
		require.NoError(t, err)
		require.NotContains(t, string(sealed), bom)
	}
}

func TestC21KeptValuesDoNotShareTheBuffer(t *testing.T) {
	first := `{"jsonrpc":"2.0","id":"aaaa","method":"m1","params":{"_meta":{"progressToken":"tttt"}}}`
	second := strings.NewReplacer("aaaa", "bbbb", "m1", "m2", "tttt", "uuuu").Replace(first)
	r := codec.NewReader(strings.NewReader(first+"\n"+second+"\n"), codec.ReaderOptions{})
	var m codec.Message
	require.NoError(t, r.ReadMessage(&m))
	id, borrowed, frame, kept := m.ID(), m.Method(), m.Frame(), m.Detach()
	retained := m
	retained.Retain()
	var params struct {
		Meta struct{ ProgressToken string } `json:"_meta"`
	}
	require.NoError(t, codec.DecodeValue(m.Params(), &params))

	require.NoError(t, r.ReadMessage(&m))
	require.Equal(t, codec.StringID("aaaa"), id)
	require.Equal(t, "tttt", params.Meta.ProgressToken)
	require.Equal(t, first, string(kept.Frame()))
	require.Equal(t, first, string(retained.Frame()))
	require.Equal(t, second, string(m.Frame()))
	if invariants.Enabled { // a view kept beyond its time fails loudly
		require.Equal(t, bytes.Repeat([]byte{invariants.PoisonByte}, len(first)), frame)
		require.Equal(t, bytes.Repeat([]byte{invariants.PoisonByte}, 2), borrowed)
	}
	frame = retained.Frame()
	retained.Release()
	if invariants.Enabled {
		require.Equal(t, bytes.Repeat([]byte{invariants.PoisonByte}, len(first)), frame)
	}
	require.Panics(t, func() { retained.Method() })
	require.Equal(t, "m1", string(kept.Method()))
}

func TestC29StreamEndsInsideAFrame(t *testing.T) {
	line, header, length := codec.LineFramer{}, codec.HeaderFramer{}, codec.LengthFramer{}
	for _, c := range []struct {
		framer codec.Framer
		stream string
		want   []string
	}{
		{line, `{"jsonrpc":"2.0","id":1,"result":{`, []string{"unexpected EOF"}},
		{line, one, append(quoted(one), "EOF")},
		{line, one + "\n", append(quoted(one), "EOF")},
		{header, "Content-Length: 40\r\n\r\n", []string{"unexpected EOF"}},
		{header, "Content-Length: 40\r\n\r\n" + one[:10], []string{"unexpected EOF"}},
		{header, headed(36, one), append(quoted(one), "EOF")},
		{length, "\x00\x00\x00", []string{"unexpected EOF"}},
		{length, "\x00\x00\x00\x28" + one[:10], []string{"unexpected EOF"}},
		{length, "\x00\x00\x00\x24" + one, append(quoted(one), "EOF")},
	} {
		for _, src := range splits(len(c.stream), 29) {
			src.stream = c.stream
			require.Equal(t, c.want, events(src, codec.ReaderOptions{Framer: c.framer}), "%q", c.stream)
		}
	}
	for _, truncated := range []string{`{"jsonrpc":"2.0","id":1,"result":{`, `{"jsonrpc":"2.0","id":1,"result":12`} {
		var m codec.Message
		r := codec.NewReader(strings.NewReader(truncated), codec.ReaderOptions{})
		require.Equal(t, io.ErrUnexpectedEOF, r.ReadMessage(&m), "not dispatched, and no matter of syntax")
		require.Equal(t, io.ErrUnexpectedEOF, r.ReadMessage(&m))
	}
}

func TestP11KeyDoesNotShareTheBuffer(t *testing.T) {
	answer := func(id string) string { return `{"jsonrpc":"2.0","id":"client-` + id + `","result":1}` + "\n" }
	r := codec.NewReader(strings.NewReader(answer("aaaa")+answer("bbbb")), codec.ReaderOptions{})
	var m codec.Message
	require.NoError(t, r.ReadMessage(&m))
	calls := map[codec.ID]string{m.ID(): "first"}
	require.NoError(t, r.ReadMessage(&m))
	require.Equal(t, io.EOF, r.ReadMessage(&m))
	require.Equal(t, map[codec.ID]string{codec.StringID("client-aaaa"): "first"}, calls)
}

func TestP12TinyValueDoesNotKeepAHugeFrame(t *testing.T) {
	frames := 10_000 // of 1 MiB
	if invariants.Enabled || invariants.Race || testing.Short() {
		frames = 100
	}
	body := bytes.Repeat([]byte("a"), 1<<20)
	made := 0
	var parts [][]byte // of a huge frame and a small one
	src := readerFunc(func(p []byte) (int, error) {
		if len(parts) == 0 {
			if made == frames {
				return 0, io.EOF
			}
			parts = [][]byte{
				fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"%010d","method":"m%d","params":{"_meta":{"progressToken":"t%d"},"body":"`, made, made, made),
				body, []byte("\"}}\n{\"jsonrpc\":\"2.0\",\"method\":\"small\"}\n"),
			}
			made++
		}
		n := copy(p, parts[0])
		if parts[0] = parts[0][n:]; len(parts[0]) == 0 {
			parts = parts[1:]
		}
		return n, nil
	})
	type pending struct {
		id, token codec.ID
		method    string
		small     codec.Message
	}
	before := liveHeap()
	var kept []pending
	r := codec.NewReader(src, codec.ReaderOptions{})
	for {
		var m, small codec.Message
		err := r.ReadMessage(&m)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		token, err := codec.ParseID(m.Token(), codec.MCP)
		require.NoError(t, err)
		p := pending{id: m.ID(), token: token, method: string(m.Method())}
		require.NoError(t, r.ReadMessage(&small))
		small.Retain() // copied: it lies in the buffer of the huge one
		p.small = small
		kept = append(kept, p)
	}
	grown := int64(liveHeap()) - int64(before)
	require.Less(t, grown, int64(8<<20))
	require.Len(t, kept, frames)
	require.Equal(t, codec.StringID("0000000042"), kept[42].id)
	require.Equal(t, codec.StringID("t42"), kept[42].token)
	require.Equal(t, `{"jsonrpc":"2.0","method":"small"}`, string(kept[42].small.Frame()))
}

func liveHeap() uint64 {
	for range 3 { // pools give up what they hold after two cycles
		runtime.GC()
	}
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// The other half of B12, the choice of the pool, is BenchmarkPool.
func TestB12FrameIsWrittenBeforeItIsReleased(t *testing.T) {
	notification := `{"jsonrpc":"2.0","method":"n"}`
	var wire bytes.Buffer
	r := codec.NewReader(strings.NewReader(notification+"\n"+one+"\n"), codec.ReaderOptions{})
	var m codec.Message
	require.NoError(t, r.ReadMessage(&m))
	m.Retain()
	n, err := wire.Write(m.Frame())
	require.NoError(t, err)
	require.Equal(t, len(notification), n)
	m.Release()
	require.NoError(t, r.ReadMessage(&m))
	require.Equal(t, notification, wire.String())
}

func TestL18OversizeAnswerNamesItsCall(t *testing.T) {
	answer := func(id int, size int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":"%s"}`+"\n", id, strings.Repeat("x", size))
	}
	r := codec.NewReader(strings.NewReader(answer(1, 10)+answer(3, 2<<20)+answer(2, 10)), codec.ReaderOptions{MaxFrame: 1 << 20})
	var m codec.Message
	require.NoError(t, r.ReadMessage(&m))
	err := r.ReadMessage(&m)
	bad, ok := errors.AsType[*codec.FrameError](err)
	require.True(t, ok && !bad.Fatal, "%v", err)
	require.Len(t, bad.Prefix, codec.FramePrefix)
	id, ok := codec.PeekID(bad.Prefix, codec.MCP)
	require.True(t, ok)
	require.Equal(t, codec.IntID(3), id)
	require.NoError(t, r.ReadMessage(&m))
	require.Equal(t, codec.IntID(2), m.ID())
}
