package fuzz_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
)

// FuzzForward does what a gateway does with a frame: accept it, put another id
// in, and write it to a newline transport.
func FuzzForward(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), int64(1<<52-1))
	}
	f.Add([]byte("{ \"id\" :\n\"\\u0031\", \"jsonrpc\":\"2.0\",\"method\":\"a\\nb\" ,\"params\":{\"x\":[1 , 2]} }"), int64(7))
	f.Fuzz(func(t *testing.T, frame []byte, id int64) {
		m, err := codec.Parse(bytes.Clone(frame), codec.ScanOptions{})
		if err != nil || !m.Envelope.RawID.Present() {
			return // nothing to forward
		}
		want := codec.IntID(id)
		forwarded := codec.AppendCompact(nil, codec.AppendSplice(nil, m.Frame(), codec.Edit{Span: m.Envelope.RawID, Text: want.Append(nil)}))
		require.NotContains(t, string(forwarded), "\n", "one frame must stay one line")
		again, err := codec.Parse(forwarded, codec.ScanOptions{})
		require.NoError(t, err)
		require.Equal(t, want, again.ID())
		require.Equal(t, m.Kind, again.Kind)
		require.Equal(t, string(m.Method()), string(again.Method()))
		require.Equal(t, canonical(t, m.Params()), canonical(t, again.Params()))
		require.Equal(t, canonical(t, m.Result()), canonical(t, again.Result()))
		require.Equal(t, canonical(t, m.RawError()), canonical(t, again.RawError()))
	})
}

// canonical takes the white space out with the standard library.
func canonical(t *testing.T, value []byte) string {
	t.Helper()
	if value == nil {
		return ""
	}
	var out bytes.Buffer
	require.NoError(t, json.Compact(&out, value))
	return out.String()
}
