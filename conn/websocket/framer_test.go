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

// A request made in one go is what the three steps make.
func TestFramerAppendsRequests(t *testing.T) {
	var f websocket.Framer
	for _, id := range []codec.ID{codec.IntID(1), codec.StringID("a\xffb"), codec.StringID("\xed\xa0\x80")} {
		for _, method := range []string{"m", "é\n\"", "\xff\xc3", ""} {
			for _, params := range []string{"", `{"a":"é"}`, "\xff", "\"\xc3\"", "\"\xe2\x82", strings.Repeat("x", 2000) + "\xff"} {
				p := []byte(params)
				if params == "" {
					p = nil
				}
				want, err := f.Seal(codec.AppendRequest(f.Open([]byte("before")), id, method, p), len("before"))
				require.NoError(t, err)
				got, err := f.AppendRequest([]byte("before"), id, method, p)
				require.NoError(t, err)
				require.Equal(t, string(want), string(got))
			}
		}
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
