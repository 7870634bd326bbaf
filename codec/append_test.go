package codec_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
)

func TestAppendMessages(t *testing.T) {
	big := strings.Repeat("9", 40)
	number, err := codec.ParseID([]byte(big), codec.JSONRPC)
	require.NoError(t, err)
	for _, c := range []struct {
		name, want string
		got        []byte
	}{
		{"request", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":1}}`,
			codec.AppendRequest(nil, codec.IntID(7), "tools/call", []byte(`{"a":1}`))},
		{"request without params", `{"jsonrpc":"2.0","id":-9223372036854775808,"method":"ping"}`,
			codec.AppendRequest(nil, codec.IntID(math.MinInt64), "ping", nil)},
		{"request with text id", `{"jsonrpc":"2.0","id":"a\"b","method":"a\\b","params":[]}`,
			codec.AppendRequest(nil, codec.StringID(`a"b`), `a\b`, []byte(`[]`))},
		{"request with large id", `{"jsonrpc":"2.0","id":` + big + `,"method":""}`, codec.AppendRequest(nil, number, "", nil)},
		{"request with null id", `{"jsonrpc":"2.0","id":null,"method":"m"}`, codec.AppendRequest(nil, codec.NullID(), "m", nil)},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			codec.AppendNotification(nil, "notifications/initialized", nil)},
		{"notification with params", `{"jsonrpc":"2.0","method":"n","params":{}}`, codec.AppendNotification(nil, "n", []byte(`{}`))},
		{"result", `{"jsonrpc":"2.0","id":"\u0061","result":{}}`, codec.AppendResult(nil, []byte(`"\u0061"`), []byte(`{}`))},
		{"nil result", `{"jsonrpc":"2.0","id":null,"result":null}`, codec.AppendResult(nil, nil, nil)},
		{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}`,
			codec.AppendError(nil, []byte(`1`), &codec.Error{Code: codec.CodeMethodNotFound, Message: "no such method"})},
		{"error without id", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"x","data":[1]}}`,
			codec.AppendError(nil, nil, &codec.Error{Code: codec.CodeParse, Message: "x", Data: []byte(`[1]`)})},
		{"error with null id", `{"jsonrpc":"2.0","id":null,"error":{"code":0,"message":""}}`,
			codec.AppendError(nil, []byte("null"), &codec.Error{})},
		{"no error", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error"}}`, codec.AppendError(nil, []byte(`1`), nil)},
		{"error that was a string", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"bad cursor"}}`,
			codec.AppendError(nil, []byte(`1`), codec.ReadError([]byte(`"bad cursor"`)))},
		{"error with a code that is no integer", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"m","data":{"a":null}}}`,
			codec.AppendError(nil, []byte(`1`), codec.ReadError([]byte(`{"code":"E1","message":"m","data":{"a":null},"x":1}`)))},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, string(c.got))
			m, err := codec.Parse(c.got, codec.ScanOptions{Profile: codec.JSONRPC})
			require.NoError(t, err)
			require.NotEqual(t, codec.KindInvalid, m.Kind)
		})
	}
	require.Panics(t, func() { codec.AppendRequest(nil, codec.ID{}, "m", nil) })
}

func TestAppendRequestWritesEveryNumber(t *testing.T) {
	check := func(n int64) {
		want := `{"jsonrpc":"2.0","id":` + strconv.FormatInt(n, 10) + `,"method":"m","params":[]}`
		require.Equal(t, want, string(codec.AppendRequest(nil, codec.IntID(n), "m", []byte(`[]`))))
	}
	for power := int64(1); power < math.MaxInt64/10; power *= 10 {
		for _, n := range []int64{power - 1, power, power + 1, 3 * power, 9*power + 9, -power} {
			check(n)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		check(random.Int64() >> random.IntN(63))
	}
	check(math.MaxInt64)
}

func TestAppendGoesOnBehindWhatIsThere(t *testing.T) {
	dst := make([]byte, 0, 16)
	dst = append(dst, "x"...)
	for range 20 {
		dst = codec.AppendRequest(dst, codec.IntID(1), "m", []byte(`{}`))
		dst = codec.AppendNotification(dst, "m", nil)
		dst = codec.AppendResult(dst, []byte(`1`), []byte(`2`))
		dst = codec.AppendError(dst, []byte(`1`), nil)
	}
	want := `{"jsonrpc":"2.0","id":1,"method":"m","params":{}}{"jsonrpc":"2.0","method":"m"}` +
		`{"jsonrpc":"2.0","id":1,"result":2}{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error"}}`
	require.Equal(t, "x"+strings.Repeat(want, 20), string(dst))
}

func stringCases() []string {
	return []string{
		"", "a", "tools/call", "12345678", "123456789", strings.Repeat("x", 100),
		`"`, `\`, `1234567"`, `12345678"`, `a\b"c`, "\x00", "\x1f", "\x7f", "\n\r\t\b\f", "1234567\n8",
		"é", "测试", "1234567é", "a😀b", "\u2028\u2029", "<&>", strings.Repeat("é\n", 50),
		"\xff", "a\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "é\xffé\"\n", "\ufffd", strings.Repeat("x", 9) + "\x80",
	}
}

func TestAppendString(t *testing.T) {
	for _, s := range stringCases() {
		checkString(t, s)
	}
	require.Equal(t, `"<&>"`, string(codec.AppendString(nil, "<&>")), "not for HTML")
	require.Equal(t, `x"\u0001\u001f\n"`, string(codec.AppendString([]byte("x"), "\x01\x1f\n")))
}

// checkString compares with what encoding/json decodes.
func checkString(t *testing.T, s string) {
	text := codec.AppendString(nil, s)
	require.True(t, utf8.Valid(text))
	var got, want string
	require.NoError(t, json.Unmarshal(text, &got), "%q", text)
	reference, err := json.Marshal(s)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(reference, &want))
	require.Equal(t, want, got)
}

func FuzzAppendString(f *testing.F) {
	for _, s := range stringCases() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkString(t, s) })
}

func TestAppendParamsWithToken(t *testing.T) {
	token := codec.StringID("t")
	for _, c := range []struct{ params, want string }{
		{"", `{"_meta":{"progressToken":"t"}}`},
		{" null ", `{"_meta":{"progressToken":"t"}}`},
		{`{}`, `{"_meta":{"progressToken":"t"}}`},
		{`{ }`, `{"_meta":{"progressToken":"t"} }`},
		{`{"a":1}`, `{"_meta":{"progressToken":"t"},"a":1}`},
		{` { "a" : [1, {"_meta":5}] } `, ` {"_meta":{"progressToken":"t"}, "a" : [1, {"_meta":5}] } `},
		{`{"_meta":{}}`, `{"_meta":{"progressToken":"t"}}`},
		{`{"_meta":null,"a":1}`, `{"_meta":{"progressToken":"t"},"a":1}`},
		{`{"a":1,"_meta" : { "x":"y" }}`, `{"a":1,"_meta" : {"progressToken":"t", "x":"y" }}`},
		{`{"_meta":{"progressToken":7}}`, `{"_meta":{"progressToken":"t"}}`},
		{`{"_meta":{"x":1,"progressToken": {"deep":[1]} ,"y":2},"z":3}`, `{"_meta":{"x":1,"progressToken": "t" ,"y":2},"z":3}`},
		{`{"\u005fmeta":{"progress\u0054oken":7}}`, `{"\u005fmeta":{"progress\u0054oken":"t"}}`},
		{`{"progressToken":1,"_Meta":{}}`, `{"_meta":{"progressToken":"t"},"progressToken":1,"_Meta":{}}`},
	} {
		got, err := codec.AppendParamsWithToken([]byte("before "), []byte(c.params), token)
		require.NoError(t, err, c.params)
		require.Equal(t, "before "+c.want, string(got), c.params)
		frame := codec.AppendRequest(nil, codec.IntID(1), "m", []byte(strings.TrimPrefix(string(got), "before ")))
		m, err := codec.Parse(frame, codec.ScanOptions{})
		require.NoError(t, err)
		require.Equal(t, `"t"`, string(m.Token()))
	}
	for _, c := range []struct {
		params string
		want   error
	}{
		{`[1]`, codec.ErrNotObject}, {`5`, codec.ErrNotObject}, {`"x"`, codec.ErrNotObject}, {`nul`, codec.ErrNotObject},
		{`{"_meta":[]}`, codec.ErrNotObject}, {`{"_meta":"x"}`, codec.ErrNotObject},
		{`{"_meta":{},"_meta":{}}`, codec.ErrDuplicateMember},
		{`{"_meta":{"progressToken":1,"progressToken":2}}`, codec.ErrDuplicateMember},
		{`{`, codec.ErrTruncated}, {`{"a"`, codec.ErrTruncated}, {`{"a":`, codec.ErrTruncated}, {`{"a":1`, codec.ErrTruncated},
		{`{"_meta":{"a":1`, codec.ErrTruncated}, {`{"a":1,`, codec.ErrTruncated},
		{`{"a" 1}`, nil}, {`{"a":1 "b":2}`, nil}, {`{1:2}`, nil}, {`{"a":01}`, nil}, {`{}x`, nil}, {`{"a":1,}`, nil},
		{`{"a":"` + "\xff" + `"}`, codec.ErrInvalidUTF8},
		{`{"a":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`, codec.ErrTooDeep},
	} {
		got, err := codec.AppendParamsWithToken([]byte("before"), []byte(c.params), codec.IntID(1))
		var syntax *codec.SyntaxError
		require.ErrorAs(t, err, &syntax, c.params)
		if c.want != nil {
			require.ErrorIs(t, err, c.want, c.params)
		}
		require.Equal(t, "before", string(got))
	}
	require.Panics(t, func() { _, _ = codec.AppendParamsWithToken(nil, nil, codec.ID{}) })
}
