package codec

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/internal/invariants"
)

func TestChunkClasses(t *testing.T) {
	for _, c := range []struct{ n, length int }{
		{0, 512}, {1, 512}, {512, 512}, {513, 1024}, {1024, 1024}, {4096, 4096}, {4097, 8192},
		{65536, 65536}, {65537, 131072}, {4<<20 - 1, 4 << 20}, {4 << 20, 4 << 20}, {4<<20 + 1, 4<<20 + 1},
	} {
		chunk := getChunk(c.n, 1<<30)
		require.Len(t, chunk.b, c.length, "%d bytes", c.n)
		require.Equal(t, c.length, cap(chunk.b), "SpliceInPlace counts from the end")
		require.Equal(t, c.n > largestChunk, chunk.class == unpooled)
		require.True(t, chunk.sole())
		chunk.release(chunk.generation)
	}
	require.Len(t, getChunk(600, 700).b, 600, "no class between the need and the limit")
	require.Len(t, getChunk(600, 1024).b, 1024)
}

func TestChunkIsReleasedOnce(t *testing.T) {
	c := getChunk(100, 512)
	g := c.generation
	c.retain(g)
	require.False(t, c.sole())
	c.release(g)
	require.True(t, c.sole())
	c.release(g)
	require.NotEqual(t, g, c.generation)
	require.Panics(t, func() { c.release(g) })
	require.Panics(t, func() { c.retain(g) })
}

// Whichever of the holders is the last, exactly one gives the chunk back.
func TestChunkIsDroppedByManyAtOnce(t *testing.T) {
	const holders, rounds = 4, 2000
	for range rounds {
		c := newChunk(16, unpooled) // no pool takes it, so it can be looked at afterwards
		g := c.generation
		for range holders - 1 {
			c.retain(g)
		}
		var done sync.WaitGroup
		for range holders {
			done.Go(func() { c.release(g) })
		}
		done.Wait()
		require.Equal(t, g+1, c.generation)
		require.True(t, c.sole(), "ready for the next")
	}
	c := newChunk(16, unpooled)
	c.refs.Store(0)
	require.Panics(t, func() { c.release(c.generation) }, "C2: no count below zero")
}

func TestChunkIsPoisoned(t *testing.T) {
	c := getChunk(5<<20, 5<<20)
	b := c.b
	copy(b, "abc")
	c.release(c.generation)
	if invariants.Enabled {
		require.Equal(t, byte(invariants.PoisonByte), b[0])
		require.Equal(t, byte(invariants.PoisonByte), b[len(b)-1])
	} else {
		require.Equal(t, "abc", string(b[:3]))
	}
}

// Whatever a reader and the messages of it do, every chunk comes back.
func TestNoChunkIsLost(t *testing.T) {
	if !invariants.Enabled {
		require.Zero(t, chunksOut.Load(), "counted under the tag invariants only")
		return
	}
	before := chunksOut.Load()
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
		require.Greater(t, chunksOut.Load(), before)
		for i := range kept {
			if SpliceInPlace(&kept[i], kept[i].Envelope.RawID, []byte("77")) {
				require.Equal(t, "77", string(kept[i].RawID()))
			}
			kept[i].Release()
		}
		require.Equal(t, before, chunksOut.Load())
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
	require.True(t, shared.sole(), "the lease of the first message is the last")
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
	chunks := map[*chunk]int{}
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
