package codec

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/chunk"
	"github.com/correlator-go/correlator/internal/invariants"
)

// Whatever a reader and the messages of it do, every chunk comes back.
func TestNoChunkIsLost(t *testing.T) {
	if !invariants.Enabled {
		require.Zero(t, chunk.Out(), "counted under the tag invariants only")
		return
	}
	before := chunk.Out()
	frame := func(n int) string { return `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", n) + `"}` }
	var stream strings.Builder
	for n := range 300 {
		stream.WriteString(frame(n*n) + "\n")
	}
	stream.WriteString("bad\n" + frame(200_000) + "\n" + frame(7))
	for _, cut := range []string{"", "cut short"} {
		r := NewReader(strings.NewReader(stream.String()+cut), ReaderOptions{MaxFrame: 100_000})
		var kept []Message
		for n := 0; ; n++ {
			var m Message
			err := r.ReadMessage(&m)
			if err == nil && n%3 == 0 {
				m.Retain()
				kept = append(kept, m)
			}
			if err != nil && !Recoverable(err) {
				require.Contains(t, []error{io.EOF, io.ErrUnexpectedEOF}, err)
				break
			}
		}
		require.Greater(t, chunk.Out(), before)
		for i := range kept {
			if SpliceInPlace(&kept[i], kept[i].Envelope.RawID, []byte("77")) {
				require.Equal(t, "77", string(kept[i].RawID()))
			}
			kept[i].Release()
		}
		require.Equal(t, before, chunk.Out())
	}
}

// Between two chunks that cannot hold the next frame whole, the one that is full
// goes on being held only by those who retained frames of it.
func TestReaderLeavesASharedChunk(t *testing.T) {
	line := `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", 900) + `"}` + "\n"
	r := NewReader(strings.NewReader(strings.Repeat(line, 50)), ReaderOptions{ChunkSize: 4096})
	var first Message
	require.NoError(t, r.ReadMessage(&first))
	first.Retain()
	shared := first.chunk
	require.Same(t, r.chunk, shared)
	var m Message
	for r.chunk == shared {
		require.NoError(t, r.ReadMessage(&m))
		require.Equal(t, line[:len(line)-1], string(m.Frame()))
	}
	require.True(t, shared.Sole(), "the lease of the first message is the last")
	require.Equal(t, line[:len(line)-1], string(first.Frame()))
	first.Release()
	for range 40 {
		if err := r.ReadMessage(&m); err != nil {
			break
		}
		require.Same(t, r.chunk, m.chunk)
		require.Equal(t, line[:len(line)-1], string(m.Frame()))
	}
}

// Every read ends with a whole frame, and every frame is kept: the tail of a chunk
// is used as long as it is worth a read.
func TestReaderFillsASharedChunk(t *testing.T) {
	line := `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", 900) + `"}` + "\n"
	lines := strings.Repeat(line, 20)
	r := NewReader(readerFunc(func(p []byte) (int, error) {
		n := copy(p, lines[:min(len(lines), len(line))])
		lines = lines[n:]
		if n == 0 {
			return 0, io.EOF
		}
		return n, nil
	}), ReaderOptions{ChunkSize: 4096})
	chunks := map[*chunk.Chunk]int{}
	var kept []Message
	for {
		var m Message
		err := r.ReadMessage(&m)
		if err != nil {
			require.Equal(t, io.EOF, err)
			break
		}
		m.Retain()
		kept = append(kept, m)
		chunks[m.chunk]++
	}
	require.Len(t, kept, 20)
	require.LessOrEqual(t, len(chunks), 7, "three to four frames share a chunk")
	for i := range kept {
		require.Equal(t, line[:len(line)-1], string(kept[i].Frame()))
		kept[i].Release()
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
