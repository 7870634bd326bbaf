package codec

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrorFailure(t *testing.T) {
	for _, c := range []struct{ name, response, message, object string }{
		{"object", `{"id":1,"error":{"code":-32602,"message":"bad","data":{"supported":["x"]}}}`,
			"MCP error -32602: bad", `{"code":-32602,"message":"bad","data":{"supported":["x"]}}`},
		{"no message", `{"error":{"code":-32603}}`, "MCP error -32603: (no message)", `{"code":-32603}`},
		{"null message", `{"error":{"code":-32603,"message":null}}`, "MCP error -32603: (no message)", `{"code":-32603,"message":null}`},
		{"empty message", `{"error":{"code":1,"message":""}}`, "MCP error 1: ", `{"code":1,"message":""}`},
		{"code 0", `{"error":{"code":0,"message":"x"}}`, "MCP error 0: x", `{"code":0,"message":"x"}`},
		{"string code", `{"error":{"code":"E_X","message":"x"}}`, "MCP error E_X: x", `{"code":"E_X","message":"x"}`},
		{"float code", `{"error":{"code":1.5,"message":"x"}}`, "MCP error 1.5: x", `{"code":1.5,"message":"x"}`},
		{"structured code", `{"error":{"code":[1, 2],"message":"x"}}`, "MCP error [1, 2]: x", `{"code":[1, 2],"message":"x"}`},
		{"structured message", `{"error":{"code":1,"message":{"a":1}}}`, `MCP error 1: {"a":1}`, `{"code":1,"message":{"a":1}}`},
		{"escaped", `{"\u0065rror":{"cod\u0065":1,"message":"a\n\u00e9"}}`, "MCP error 1: a\né", `{"cod\u0065":1,"message":"a\n\u00e9"}`},
		{"space", " { \"error\" : { \"code\" : 1 , \"message\" : \"x\" } } ", "MCP error 1: x", `{ "code" : 1 , "message" : "x" }`},
		{"absent", `{"id":1,"result":1}`, "", ""},
		{"null", `{"error":null}`, "", ""},
		{"string", `{"error":"x"}`, "", ""},
		{"number", `{"error":1}`, "", ""},
		{"boolean", `{"error":false}`, "", ""},
		{"array", `{"error":[{"code":1}]}`, "", ""},
		{"no code", `{"error":{"message":"x"}}`, "", ""},
		{"null code", `{"error":{"code":null,"message":"x"}}`, "", ""},
		{"code in another case", `{"error":{"Code":1}}`, "", ""},
		{"no object", `[{"error":{"code":1}}]`, "", ""},
		{"scalar", `"x"`, "", ""},
		{"nothing", ``, "", ""},
		{"malformed", `{"error":{"code":1}`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			message, category, object, ok := ErrorFailure([]byte(c.response))
			require.Equal(t, c.object != "", ok)
			require.Equal(t, c.message, message)
			require.Equal(t, c.object, string(object))
			require.Equal(t, ok, category == "mcp")
			if ok {
				e := ReadError(object)
				require.Equal(t, strings.TrimPrefix(message, "MCP "), e.Error())
				e.MCP = true
				require.Equal(t, message, e.Error())
				require.Equal(t, "mcp", e.Category())
				require.Equal(t, c.object, string(e.Raw))
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	for member, want := range map[string]string{
		`"plain"`: "plain", `"a\"\u00e9"`: "a\"é", `""`: "", `"\ud800"`: "\uFFFD", `42`: "42", `-1.50e3`: "-1.50e3",
		`true`: "true", `false`: "false", `{"message":"x"}`: `{"message":"x"}`, ` [1, 2] `: "[1, 2]",
		`null`: "unknown error", ``: "unknown error", ` `: "unknown error", `{`: "unknown error", "\"\xff\"": "unknown error",
	} {
		require.Equal(t, want, ErrorText([]byte(member)), "%q", member)
	}
}

func TestReadError(t *testing.T) {
	require.Nil(t, ReadError(nil))
	require.Nil(t, ReadError([]byte(`null`)))
	require.Nil(t, ReadError([]byte(` null `)))

	e := ReadError([]byte(`{"code":-32602,"message":"bad","data":[1]}`))
	require.Equal(t, int64(CodeInvalidParams), e.Code)
	require.Equal(t, "bad", e.Message)
	require.Equal(t, "[1]", string(e.Data))
	require.Nil(t, e.RawCode)
	require.True(t, e.Structured)

	e = ReadError([]byte(`{"code":"E_X","message":7}`))
	require.Equal(t, int64(CodeInternal), e.Code)
	require.Equal(t, `"E_X"`, string(e.RawCode))
	require.Equal(t, "7", e.Message)
	require.Equal(t, "error E_X: 7", e.Error())

	e = ReadError([]byte(`{"code":9223372036854775808}`))
	require.Equal(t, "9223372036854775808", string(e.RawCode))

	e = ReadError([]byte(`{"code":1,"code":2,"message":"a","message":"b"}`))
	require.Equal(t, "error 2: b", e.Error())

	for member, text := range map[string]string{`"bad cursor"`: "bad cursor", `0`: "0", `false`: "false", `{"message":"x"}`: `{"message":"x"}`, `""`: ""} {
		e = ReadError([]byte(member))
		require.False(t, e.Structured)
		require.Equal(t, int64(CodeInternal), e.Code)
		require.Equal(t, text, e.Message)
		require.Equal(t, text, e.Error())
		require.Empty(t, e.Category())
		require.Equal(t, member, string(e.Raw))
	}
}

func TestReadErrorCopies(t *testing.T) {
	member := []byte(`{"code":"E_X","message":"m","data":{"a":1}}`)
	e := ReadError(member)
	clear(member)
	require.Equal(t, `"E_X"`, string(e.RawCode))
	require.Equal(t, `{"a":1}`, string(e.Data))
	require.Equal(t, `{"code":"E_X","message":"m","data":{"a":1}}`, string(e.Raw))
	require.Equal(t, "m", e.Message)
}

func TestErrorIsMatchesByCode(t *testing.T) {
	missing := &Error{Code: CodeMethodNotFound}
	err := fmt.Errorf("call: %w", ReadError([]byte(`{"code":-32601,"message":"no such method"}`)))
	require.ErrorIs(t, err, missing)
	require.NotErrorIs(t, err, &Error{Code: CodeInternal})
	require.NotErrorIs(t, err, &Error{Code: CodeMethodNotFound, Message: "other"})
	require.NotErrorIs(t, ReadError([]byte(`"text"`)), &Error{Code: CodeInternal})
	require.NotErrorIs(t, ReadError([]byte(`{"code":"x"}`)), &Error{Code: CodeInternal})
	require.ErrorIs(t, &Error{Code: CodeMethodNotFound, Message: "made here"}, missing)
	require.False(t, errors.Is(missing, errors.New("other")))
	require.Equal(t, "error -32601: made here", (&Error{Code: CodeMethodNotFound, Message: "made here"}).Error())
}
