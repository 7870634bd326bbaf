package client_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/conn"
)

// The same answer is the same failure, whatever way it came by.
func TestFailuresAreTheSameEverywhere(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		text         string // "" is success
		code         int64
		category     string
		data, result string
	}{
		{name: "result", answer: `{"jsonrpc":"2.0","id":ID,"result":{"x":1}}`, result: `{"x":1}`},
		{name: "error null beside a result", answer: `{"jsonrpc":"2.0","id":ID,"error":null,"result":{"x":1}}`, result: `{"x":1}`},
		{
			name: "structured", answer: `{"jsonrpc":"2.0","id":ID,"error":{"code":-5,"message":"no","data":{"a":[1]}}}`,
			text: "MCP error -5: no", code: -5, category: "mcp", data: `{"a":[1]}`,
		},
		{
			name: "error wins over a result", answer: `{"jsonrpc":"2.0","id":ID,"error":{"code":7,"message":"no"},"result":{}}`,
			text: "MCP error 7: no", code: 7, category: "mcp",
		},
		{name: "code 0", answer: `{"jsonrpc":"2.0","id":ID,"error":{"code":0,"message":"zero"}}`, text: "MCP error 0: zero", category: "mcp"},
		{name: "string", answer: `{"jsonrpc":"2.0","id":ID,"error":"boom"}`, text: "boom", code: codec.CodeInternal},
		{name: "empty string", answer: `{"jsonrpc":"2.0","id":ID,"error":""}`, text: "", code: codec.CodeInternal, result: "fails"},
		{name: "zero", answer: `{"jsonrpc":"2.0","id":ID,"error":0}`, text: "0", code: codec.CodeInternal},
		{name: "false", answer: `{"jsonrpc":"2.0","id":ID,"error":false}`, text: "false", code: codec.CodeInternal},
		{name: "object without a code", answer: `{"jsonrpc":"2.0","id":ID,"error":{"message":"odd"}}`, text: `{"message":"odd"}`, code: codec.CodeInternal},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modern(func(message) []string { return []string{c.answer} })
			scripted(t, s, client.Options{}, func(t *testing.T, cl *client.Client) {
				result, err := cl.Call(t.Context(), "own/method", nil, client.CallOptions{})
				if c.result != "" && c.result != "fails" {
					require.NoError(t, err)
					require.Equal(t, c.result, string(result))
					return
				}
				failure, ok := errors.AsType[*codec.Error](err)
				require.Truef(t, ok, "%v", err)
				require.Equal(t, c.text, failure.Error())
				require.Equal(t, c.code, failure.Code)
				require.Equal(t, c.category, failure.Category())
				require.Equal(t, c.data, string(failure.Data))
				sent, known := conn.Sent(err)
				require.True(t, sent && known)
			})
		})
	}
}

func TestInvalidResults(t *testing.T) {
	for _, c := range []struct{ name, method, result string }{
		{"unknown result type", "tools/call", `{"resultType":"other"}`},
		{"nothing is asked", "tools/call", `{"resultType":"input_required"}`},
		{"a list cannot ask", "tools/list", `{"resultType":"input_required","requestState":"x"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modern(func(message) []string { return []string{`{"jsonrpc":"2.0","id":ID,"result":` + c.result + `}`} })
			scripted(t, s, client.Options{}, func(t *testing.T, cl *client.Client) {
				_, err := cl.Call(t.Context(), c.method, nil, client.CallOptions{})
				require.ErrorIs(t, err, conn.ErrInvalidAnswer)
			})
		})
	}
	for _, result := range []string{`[]`, `"text"`, `{"resultType":""}`, `{"resultType":7}`, `{"tools":[]}`} {
		t.Run("complete "+result, func(t *testing.T) {
			s := modern(func(message) []string { return []string{`{"jsonrpc":"2.0","id":ID,"result":` + result + `}`} })
			scripted(t, s, client.Options{}, func(t *testing.T, cl *client.Client) {
				got, err := cl.Call(t.Context(), "tools/call", nil, client.CallOptions{})
				require.NoError(t, err)
				require.Equal(t, result, string(got))
			})
		})
	}
}

func TestCursorsThatRepeat(t *testing.T) {
	s := modern(func(message) []string {
		return []string{`{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"a","inputSchema":{}}],"nextCursor":"","ttlMs":-5}}`}
	})
	scripted(t, s, client.Options{}, func(t *testing.T, c *client.Client) {
		seen := 0
		var last error
		for _, err := range c.Tools(t.Context()) {
			if last = err; err == nil {
				seen++
			}
		}
		require.ErrorIs(t, last, client.ErrCursorRepeated)
		require.Equal(t, 2, seen, `"" is a cursor`)
		page, err := c.ListTools(t.Context(), nil, client.CallOptions{})
		require.NoError(t, err)
		require.Zero(t, page.TTLMillis, "a negative time is none")
	})
}
