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

func TestFramerFindsTheMessagesHoweverTheyAreSplit(t *testing.T) {
	const limit = 32
	in := "{\"a\":\n1}\xff\xff" + strings.Repeat("x", limit) + "\xff" + strings.Repeat("y", limit+1) + "\xff" + strings.Repeat("z", 9*limit) + "\xff[]\xffcut"
	for _, split := range []func(io.Reader) io.Reader{
		func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader,
	} {
		frames := codec.NewReader(split(strings.NewReader(in)), codec.ReaderOptions{Framer: websocket.Framer{}, MaxFrame: limit})
		var got []string
		for {
			frame, err := frames.Next()
			if err == nil {
				got = append(got, string(frame))
				continue
			}
			if !codec.Recoverable(err) {
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
				break
			}
			require.ErrorIs(t, err, codec.ErrFrameTooLarge)
			got = append(got, "too large")
		}
		require.Equal(t, []string{"{\"a\":\n1}", strings.Repeat("x", limit), "too large", "too large", "[]"}, got)
	}
}

func TestFramerSeals(t *testing.T) {
	var f websocket.Framer
	for in, want := range map[string]string{
		`{"a":"é"}`: "{\"a\":\"é\"}\xff", "a\xffb": "a?b\xff", "\xc3": "?\xff", "\xed\xa0\x80": "???\xff", "a\n": "a\n\xff",
	} {
		got, err := f.Seal(append(f.Open([]byte("before")), in...), len("before"))
		require.NoError(t, err)
		require.Equal(t, "before"+want, string(got))
	}
	got, err := f.Seal([]byte("before"), len("before"))
	require.ErrorIs(t, err, codec.ErrEmptyFrame)
	require.Equal(t, "before", string(got))
}
