package websocket

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// frameOf is a frame with so long a payload, of zeros, whose length is written in the
// shortest form, or a longer one.
func frameOf(length int, form byte, masked bool) string {
	b := []byte{0x82, 0}
	switch {
	case form == 127 || length >= 1<<16:
		b[1] = 127
		b = binary.BigEndian.AppendUint64(b, uint64(length))
	case form == 126 || length > 125:
		b[1] = 126
		b = binary.BigEndian.AppendUint16(b, uint16(length))
	default:
		b[1] = byte(length)
	}
	if masked {
		b[1] |= 0x80
		b = append(b, 1, 2, 3, 4)
	}
	return string(b) + strings.Repeat("\x00", length)
}

// However the stream is cut into reads, all of it comes through, up to and with the
// first header that announces too much.
func TestLengthsAreFollowed(t *testing.T) {
	var good strings.Builder
	for _, masked := range []bool{false, true} {
		for _, length := range []int{0, 1, 125, 126, 1000, 1<<16 - 1, 1 << 16, 70_000} {
			good.WriteString(frameOf(length, 0, masked))
		}
		good.WriteString(frameOf(3, 126, masked) + frameOf(0, 127, masked))
	}
	for name, split := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader, "end with data": iotest.DataErrReader,
	} {
		all, err := io.ReadAll(&lengths{src: split(strings.NewReader(good.String()))})
		require.NoError(t, err, name)
		require.Equal(t, len(good.String()), len(all), name)
		bad := good.String() + "\x82\xff\x00\x00\x00\x01\x00\x00\x00\x01" + "1234 and so on"
		all, err = io.ReadAll(&lengths{src: split(strings.NewReader(bad))})
		long, ok := errors.AsType[*announcedError](err)
		require.True(t, ok, "%s: %v", name, err)
		require.EqualValues(t, uint64(frameMost+1), long.length)
		require.ErrorIs(t, err, ErrReadLimit)
		require.GreaterOrEqual(t, len(all), len(good.String())+10, name)
	}
}
