package websocket_test

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn/websocket"
)

// A byte order mark before a message is dropped, however it comes apart, does not
// count against the limit, and alone is no message.
func TestC19ByteOrderMark(t *testing.T) {
	const mark, limit = "\xef\xbb\xbf", 32
	full := strings.Repeat("x", limit)
	in := mark + "{}\xff" + mark + "\xff[]\xff" + mark + full + "\xff" + mark + full + "x\xff" + mark + "1\xff"
	for _, split := range []func(io.Reader) io.Reader{
		func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader,
	} {
		frames := codec.NewReader(split(strings.NewReader(in)), codec.ReaderOptions{Framer: websocket.Framer{}, MaxFrame: limit})
		for _, want := range []string{"{}", "[]", full, "", "1"} {
			frame, err := frames.Next()
			if want == "" {
				require.ErrorIs(t, err, codec.ErrFrameTooLarge)
				require.True(t, codec.Recoverable(err))
				continue
			}
			require.NoError(t, err)
			require.Equal(t, want, string(frame))
		}
		_, err := frames.Next()
		require.ErrorIs(t, err, io.EOF)
	}
}
