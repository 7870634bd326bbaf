package codec_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/internal/chunk"
	"github.com/correlator-go/correlator/internal/invariants"
)

// body is what frame n carries: it can be told from that of every other frame.
func body(n, size int) []byte {
	pattern := fmt.Sprintf("%d-", n)
	return bytes.Repeat([]byte(pattern), size/len(pattern)+1)
}

// A reader hands out messages of all sizes, between rubbish, while many hold them,
// copy them, splice them and let them go in any order. Each stays what it was until
// its last holder let go.
func TestManyHoldersOfManyMessages(t *testing.T) {
	const holders = 8
	frames := 3000
	if testing.Short() || invariants.Race {
		frames = 300
	}
	for _, framer := range []codec.Framer{codec.LineFramer{}, codec.HeaderFramer{}, codec.LengthFramer{}} {
		const seed = 11
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 0))
		var stream []byte
		size := map[int]int{}
		for n := range frames {
			size[n] = r.IntN([]int{60, 60, 60, 700, 9000, 150_000}[r.IntN(6)])
			texts := []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":"%s"}`, n, body(n, size[n]))}
			if r.IntN(4) == 0 {
				texts = append(texts, []string{`rubbish`, `[{"jsonrpc":"2.0"}]`, `{"jsonrpc":"2.0","id":1,"result":"` + "\xff\"}", `{`, ` `}[r.IntN(5)])
			}
			for _, text := range texts {
				start := len(stream)
				var err error
				stream, err = framer.Seal(append(framer.Open(stream), text...), start)
				require.NoError(t, err)
			}
		}
		before := chunk.Out()
		var work sync.WaitGroup
		handed := make(chan codec.Message, 16)
		for h := range holders {
			work.Go(func() { hold(t, handed, size, rand.New(rand.NewPCG(seed, uint64(h)+1))) })
		}
		src := &pieces{stream: string(stream), sizes: []int{1 << 20, 7, 4096, 65536, 1}}
		reader := codec.NewReader(src, codec.ReaderOptions{Framer: framer, ChunkSize: 32 << 10})
		read := 0
		for {
			var m codec.Message
			err := reader.ReadMessage(&m)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				require.True(t, codec.Recoverable(err), "%v", err)
				continue
			}
			read++
			m.Retain()
			handed <- m
		}
		close(handed)
		work.Wait()
		require.Equal(t, frames, read)
		require.Equal(t, before, chunk.Out(), "every chunk came back")
		if !invariants.Enabled {
			require.Zero(t, before)
		}
	}
}

// hold keeps some messages for a while and lets them go in any order.
func hold(t *testing.T, handed <-chan codec.Message, size map[int]int, r *rand.Rand) {
	var held []codec.Message
	drop := func(i int) {
		m := &held[i]
		id, err := strconv.Atoi(string(m.RawID()))
		if err != nil || string(m.Result()) != `"`+string(body(id, size[id]))+`"` {
			t.Errorf("frame %q holds something else by now", m.RawID())
		}
		other := []byte([]string{"1", `"a longer id than before"`}[r.IntN(2)])
		detached := m.Detach()
		if codec.SpliceInPlace(m, m.Envelope.RawID, other) {
			fresh, err := codec.Parse(m.Frame(), codec.ScanOptions{})
			if err != nil || string(fresh.RawID()) != string(other) || fresh.Envelope != m.Envelope {
				t.Errorf("spliced frame %d: %v, %+v, %+v", id, err, fresh.Envelope, m.Envelope)
			}
		}
		m.Release()
		if string(detached.Result()) != `"`+string(body(id, size[id]))+`"` {
			t.Errorf("the copy of frame %d changed", id)
		}
		held = append(held[:i], held[i+1:]...)
	}
	for m := range handed {
		if r.IntN(3) == 0 { // for a second holder
			second := m
			second.Retain()
			m.Release()
			m = second
			if m.Frame() == nil {
				t.Error("a copy that was retained lost its frame")
			}
			m.Retain()
			m.Release()
		}
		held = append(held, m)
		if len(held) > 5 {
			drop(r.IntN(len(held)))
		}
	}
	for len(held) > 0 {
		drop(r.IntN(len(held)))
	}
}

// Spans that no envelope would hold are refused, or panic where nothing else can be
// done, before a byte is written.
func TestSpansThatMakeNoSense(t *testing.T) {
	frame := `{"jsonrpc":"2.0","id":12,"method":"m","params":{"a":[1,2,3]}}`
	for _, s := range []codec.Span{{}, {Off: 5}, {Off: 9, End: 3}, {Off: 0, End: 1000}, {Off: 1 << 31, End: 1<<31 + 4}, {Off: 1<<32 - 1, End: 1}, {Off: 1<<32 - 2, End: 1<<32 - 1}} {
		m := own(t, frame)
		require.False(t, codec.SpliceInPlace(&m, s, []byte(`"other"`)), "%v", s)
		require.Equal(t, frame, string(m.Frame()))
		require.Panics(t, func() { codec.AppendSplice(nil, m.Frame(), codec.Edit{Span: s, Text: []byte("x")}) }, "%v", s)
		m.Release()
	}
}

// A batch is as cheap as it is long, whatever is in it, and errors name its places.
func TestHostileBatches(t *testing.T) {
	count := func(frame []byte, o codec.ScanOptions) (good, bad int) {
		for element, err := range codec.SplitBatch(frame, o) {
			switch {
			case element == nil:
				require.Error(t, err)
				return good, -1
			case err != nil:
				syntax, ok := errors.AsType[*codec.SyntaxError](err)
				require.True(t, ok)
				require.Same(t, &frame[syntax.Offset], &element[0])
				bad++
			default:
				good++
			}
		}
		return good, bad
	}
	const many = 200_000
	for _, c := range []struct {
		element   string
		good, bad int
	}{{`{}`, many, 0}, {`1`, 0, many}, {`[]`, 0, many}, {`[[],{}]`, 0, many}, {"\"\\u0000\"", 0, many}} {
		frame := []byte("[" + c.element)
		for range many - 1 {
			frame = append(append(frame, ','), c.element...)
		}
		good, bad := count(append(frame, ']'), codec.ScanOptions{})
		require.Equal(t, c.good, good)
		require.Equal(t, c.bad, bad)
		_, broken := count(append(frame, `,01]`...), codec.ScanOptions{})
		require.Equal(t, -1, broken, "nothing of a broken batch comes out")
	}
	deep := bytes.Repeat([]byte("["), 1<<20)
	_, broken := count(deep, codec.ScanOptions{})
	require.Equal(t, -1, broken)
	_, broken = count([]byte(`[[[]]]`), codec.ScanOptions{MaxDepth: 2})
	require.Equal(t, -1, broken)
}

// A framer that lies about what it found cannot make the reader read what is not
// there, or stand still.
func TestHostileFramer(t *testing.T) {
	for _, cut := range []codec.Cut{
		{Start: 3, End: 1, Advance: 4}, {Start: 9, End: 4, Advance: 1}, {Advance: -1}, {Start: -1, End: 1, Advance: 1},
		{End: 2, Advance: 1}, {End: -5, Advance: 3}, {Need: -7}, {Need: 1 << 30}, {Start: 2, End: 3, Advance: 0},
	} {
		func() {
			defer func() {
				if p := recover(); p != nil { // a broken framer may be told so
					require.Contains(t, fmt.Sprint(p), "Framer", "%+v", cut)
				}
			}()
			r := codec.NewReader(bytes.NewReader(bytes.Repeat([]byte("x"), 100)), codec.ReaderOptions{Framer: &liar{cut}, MaxFrame: 50})
			for range 1000 {
				frame, err := r.Next()
				require.LessOrEqual(t, len(frame), 100)
				if err != nil && !codec.Recoverable(err) {
					return
				}
			}
			require.Fail(t, "no end", "%+v", cut)
		}()
	}
}

type liar struct{ cut codec.Cut }

func (l *liar) Cut([]byte, int, bool, int) (codec.Cut, error) { return l.cut, nil }
func (l *liar) Open(dst []byte) []byte                        { return dst }
func (l *liar) Seal(dst []byte, _ int) ([]byte, error)        { return dst, nil }
