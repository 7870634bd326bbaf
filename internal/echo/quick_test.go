package echo

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
)

func TestQuickFindsWhatAScanFinds(t *testing.T) {
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"x"}`,
		`{"jsonrpc":"2.0","id":-12,"method":"","params":{}}`,
		`{"jsonrpc":"2.0","id":4503599627370495,"method":"a/b","params":{"a":[1,2,{"b":"}"}]}}`,
		`{"jsonrpc":"2.0","id":0,"method":"x","params":[1,"]"]}`,
		`{"jsonrpc":"2.0","id":0,"method":"x","params":"a }"}`, `{"jsonrpc":"2.0","id":0,"method":"x","params":""}`,
	} {
		id, method, params, ok := quick([]byte(frame))
		require.True(t, ok, frame)
		m, err := codec.Parse([]byte(frame), codec.ScanOptions{})
		require.NoError(t, err)
		require.Equal(t, string(m.RawID()), string(id))
		require.Equal(t, string(m.Method()), string(method))
		require.Equal(t, m.Params(), params)
	}
}

func TestQuickLeavesTheRestToAScan(t *testing.T) {
	for _, frame := range []string{
		``, `{}`, `{"jsonrpc":"2.0","id":`, `{"jsonrpc":"2.0","id":1`, `{"jsonrpc":"2.0","id":,"method":"x"}`,
		`{"jsonrpc":"2.0","method":"x","id":1}`, `{"jsonrpc":"2.0","id":"1","method":"x"}`, `{"jsonrpc":"2.0","id":1.5,"method":"x"}`,
		`{"jsonrpc":"2.0","id":1, "method":"x"}`, `{"jsonrpc":"2.0","id":1,"method":"\u0078"}`, `{"jsonrpc":"2.0","id":1,"method":"x\"}`,
		`{"jsonrpc":"2.0","id":1,"method":"x`, `{"jsonrpc":"2.0","id":1,"method":"x","params":`, `{"jsonrpc":"2.0","id":1,"method":"x","params":}`,
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{}`, `{"jsonrpc":"2.0","id":1,"method":"x","params":null}`,
		`{"jsonrpc":"2.0","id":1,"method":"x","params":"}`, `{"jsonrpc":"2.0","id":1,"method":"x","params":"]}`,
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{},"y":1}`, `{"jsonrpc":"2.0","id":1,"method":"x","params":[}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
	} {
		_, _, _, ok := quick([]byte(frame))
		require.False(t, ok, frame)
	}
}
