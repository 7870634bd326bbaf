package vector

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTwinsOfLineEnd(t *testing.T) {
	texts(t, func(b []byte) {
		b = bytes.Repeat(b, 1+lineEndLong/(len(b)+1))
		if got, want := LineEnd(b), bytes.IndexAny(b, "\r\n"); got != want {
			t.Fatalf("%d instead of %d: %q", got, want, b)
		}
		plain := bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\n"), nil), []byte("\r"), nil)
		if LineEnd(plain) != -1 {
			t.Fatalf("an end in %q", plain)
		}
		if got, want := lineEndPortable(b), bytes.IndexAny(b, "\r\n"); got != want {
			t.Fatalf("portable: %d instead of %d: %q", got, want, b)
		}
	})
}

func TestLineEndAtEveryPlace(t *testing.T) {
	for _, n := range []int{0, 1, Block, 2*Block + 1, lineEndLong - 1, lineEndLong, lineEndLong + 1, lineEndLong + Block - 1} {
		b := bytes.Repeat([]byte("\x0b\x0c\x8a\x8d"), lineEndLong)[:n] // each nearly one
		require.Equal(t, -1, LineEnd(b))
		for at := range n {
			was := b[at]
			for _, c := range []byte("\n\r") {
				b[at] = c
				if got := LineEnd(b); got != at {
					t.Fatalf("%d instead of %d of %d", got, at, n)
				}
			}
			b[at] = was
		}
	}
	long := make([]byte, 2*most+Block/2)
	require.Equal(t, -1, LineEnd(long))
	long[most+5] = '\r'
	require.Equal(t, most+5, LineEnd(long))
}
