package conn

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestTailKeepsTheEnd(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for range 2000 {
		limit := random.IntN(20)
		tail := newStderrTail(limit)
		var all []byte
		for range random.IntN(10) {
			p := make([]byte, random.IntN(30))
			for i := range p {
				p[i] = byte('a' + random.IntN(26))
			}
			tail.add(p)
			all = append(all, p...)
		}
		want := all[max(0, len(all)-limit):]
		require.Equal(t, string(want), string(tail.bytes()))
	}
}

func TestTailIsACopy(t *testing.T) {
	tail := newStderrTail(4)
	tail.add([]byte("abcdef"))
	got := tail.bytes()
	tail.add([]byte("ghij"))
	require.Equal(t, "cdef", string(got))
}

func TestTailDrainsToTheEnd(t *testing.T) {
	text := strings.Repeat("0123456789", 10_000)
	var copied bytes.Buffer
	tail := newStderrTail(5)
	tail.drain(iotest.DataErrReader(strings.NewReader(text)), &copied)
	require.Equal(t, text, copied.String())
	require.Equal(t, "56789", string(tail.bytes()))
}
