package codec

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// The faults seen in the field that a scan can meet, by their letter codes.

func TestC05KeysByExactCase(t *testing.T) {
	frame := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list","Method":"tools/call","params":{"name":"safe","Name":"danger"}}`)
	m, err := Parse(frame, ScanOptions{})
	require.NoError(t, err)
	require.Equal(t, "tools/list", string(m.Method()))
	require.Equal(t, `"safe"`, string(m.Name()))
	require.Equal(t, `{"name":"safe","Name":"danger"}`, string(m.Params()))

	m, err = Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","param\u017f":{"name":"x"},"paramſ":{"name":"y"}}`), ScanOptions{})
	require.NoError(t, err)
	require.Nil(t, m.Params())
	require.Nil(t, m.Name())

	m, err = Parse([]byte(`{"jsonrpc":"2.0","id":1,"ID":2,"Id":3,"result":4,"RESULT":5,"Error":6}`), ScanOptions{})
	require.NoError(t, err)
	require.Equal(t, IntID(1), m.ID())
	require.Equal(t, "4", string(m.Result()))
}

func TestC12StringError(t *testing.T) {
	m, err := Parse([]byte(`{"jsonrpc":"2.0","id":1,"error":"bad cursor"}`), ScanOptions{})
	require.NoError(t, err)
	require.Equal(t, KindError, m.Kind)
	require.Equal(t, IntID(1), m.ID())
	e := m.Err()
	require.Equal(t, "bad cursor", e.Error())
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"bad cursor"}}`,
		string(AppendError(nil, m.RawID(), e)), "what is passed on")
	for _, odd := range []string{`""`, `0`, `false`, `[]`, `{}`, `{"message":"x"}`} {
		m, err := Parse([]byte(`{"jsonrpc":"2.0","id":1,"error":`+odd+`}`), ScanOptions{})
		require.NoError(t, err)
		require.Equal(t, KindError, m.Kind, odd)
		require.NotNil(t, m.Err())
	}
}

func TestC14NullErrorBesideResult(t *testing.T) {
	m, err := Parse([]byte(`{"result":7,"error":null,"id":1}`), ScanOptions{})
	require.NoError(t, err)
	require.Equal(t, KindResult, m.Kind)
	require.Equal(t, "7", string(m.Result()))
	require.Nil(t, m.Err())
	require.True(t, m.Flags.Has(FlagNoVersion|FlagErrorNull))
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":7}`, string(AppendResult(nil, m.RawID(), m.Result())), "what is passed on")
}

func TestC15ErrorBeatsResult(t *testing.T) {
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-32601,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":-32601,"message":"x"}}`,
		`{"error":{"code":-32601,"message":"x"},"result":{},"jsonrpc":"2.0","id":1}`,
	} {
		m, err := Parse([]byte(frame), ScanOptions{})
		require.NoError(t, err)
		require.Equal(t, KindError, m.Kind)
		require.Nil(t, m.Result())
		require.True(t, m.Flags.Has(FlagResultIgnored))
		require.ErrorIs(t, m.Err(), &Error{Code: CodeMethodNotFound})
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"x"}}`,
			string(AppendError(nil, m.RawID(), m.Err())), "what is passed on")
	}
}

func TestC21NothingKeptSharesTheBuffer(t *testing.T) {
	buf := []byte(`{"jsonrpc":"2.0","id":"aaaa","method":"\u006d1","params":{"_meta":{"progressToken":"tttt"}}}`)
	m, err := Parse(buf, ScanOptions{})
	require.NoError(t, err)
	id, method := m.ID(), m.Method()
	token, err := ParseID(m.Token(), MCP)
	require.NoError(t, err)
	copy(buf, `{"jsonrpc":"2.0","id":"bbbb","method":"\u006d2","params":{"_meta":{"progressToken":"uuuu"}}}`)
	require.Equal(t, StringID("aaaa"), id)
	require.Equal(t, "m1", string(method))
	require.Equal(t, StringID("tttt"), token)

	failure := []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"text","data":"data"}}`)
	m, err = Parse(failure, ScanOptions{})
	require.NoError(t, err)
	e := m.Err()
	clear(failure)
	require.Equal(t, "text", e.Message)
	require.Equal(t, `"data"`, string(e.Data))
	require.Equal(t, `{"code":1,"message":"text","data":"data"}`, string(e.Raw))
}

func TestC24NumbersBeyondFloats(t *testing.T) {
	pending := map[ID]string{}
	for _, text := range []string{
		"9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615",
		"-9223372036854775808", "-9223372036854775809",
	} {
		m, err := Parse([]byte(`{"jsonrpc":"2.0","id":`+text+`,"method":"m"}`), ScanOptions{})
		require.NoError(t, err, text)
		require.Equal(t, text, string(m.RawID()))
		require.Equal(t, text, string(m.ID().Append(nil)))
		pending[m.ID()] = text
	}
	require.Len(t, pending, 7)

	for _, text := range []string{"1e20", "1.5", "3.14", "1.0"} {
		m, err := Parse([]byte(`{"jsonrpc":"2.0","id":`+text+`,"method":"m"}`), ScanOptions{})
		bad, ok := errors.AsType[*SyntaxError](err)
		require.True(t, ok)
		require.Equal(t, CodeInvalidRequest, bad.Code)
		require.ErrorIs(t, err, ErrInvalidID)
		require.True(t, m.ID().IsAbsent())

		m, err = Parse([]byte(`{"jsonrpc":"2.0","id":`+text+`,"method":"m"}`), ScanOptions{Profile: JSONRPC})
		require.NoError(t, err)
		require.Equal(t, text, string(m.RawID()))
		require.Equal(t, text, m.ID().Text())
	}
}

func TestC26NullID(t *testing.T) {
	frame := `{"jsonrpc":"2.0","id":null,"method":"ping"}`
	for _, alone := range []bool{true, false} {
		element := []byte(frame)
		if !alone {
			for part, err := range SplitBatch([]byte(`[`+frame+`]`), ScanOptions{}) {
				require.NoError(t, err)
				element = part
			}
		}
		m, err := Parse(element, ScanOptions{Profile: JSONRPC})
		require.NoError(t, err)
		require.Equal(t, KindRequest, m.Kind) // answered with "id":null
		require.Equal(t, "null", string(m.RawID()))
		require.Equal(t, NullID(), m.ID())

		m, err = Parse(element, ScanOptions{Profile: MCP})
		require.NoError(t, err)
		require.Equal(t, KindNotification, m.Kind) // at a client; a server sees the flag and refuses
		require.True(t, m.Flags.Has(FlagNullID))
		require.Equal(t, "null", string(m.RawID()))
	}
}
