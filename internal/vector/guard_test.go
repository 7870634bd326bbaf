//go:build linux

package vector

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The byte behind a text, and the one before it, may not exist: in this test they
// do not.
func TestNothingOutsideIsRead(t *testing.T) {
	page := os.Getpagesize()
	room, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	defer func() { require.NoError(t, syscall.Munmap(room)) }()
	require.NoError(t, syscall.Mprotect(room[:page], syscall.PROT_NONE))
	require.NoError(t, syscall.Mprotect(room[2*page:], syscall.PROT_NONE))
	usable := room[page : 2*page : 2*page]
	all := func(b []byte) {
		Text(b)
		Cross(b, 1000)
		LineEnd(b)
		ValidUTF8(b)
		Classify(b, new(State), make([]Masks, len(b)/Block))
	}
	texts(t, func(text []byte) {
		end := usable[page-len(text):]
		copy(end, text)
		all(end)
		begin := usable[:len(text)]
		copy(begin, text)
		all(begin)
	})
}
