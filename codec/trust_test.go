package codec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTrustBodyCrossesStrings(t *testing.T) {
	trust := ScanOptions{TrustBody: true}
	for _, c := range []struct {
		name, frame string
		ok          bool
	}{
		{"bad escape in a body", `{"jsonrpc":"2.0","id":1,"result":"long enough \q text"}`, true},
		{"bad UTF-8 in a body", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[\"long enough \xff text\"]}", true},
		{"escaped quotes", `{"jsonrpc":"2.0","id":1,"result":{"a\"long name":"a \\\" b \\"}}`, true},
		{"open string", `{"jsonrpc":"2.0","id":1,"result":"long enough`, false},
		{"open string with a quote", `{"jsonrpc":"2.0","id":1,"result":"long enough \"`, false},
		{"structure of a body", `{"jsonrpc":"2.0","id":1,"result":[1,,x{]]}`, true},
		{"structure of the result", `{"jsonrpc":"2.0","id":1,"result":{"a" 1}}`, false},
		{"a number", `{"jsonrpc":"2.0","id":1,"result":01}`, false},
		{"an open body", `{"jsonrpc":"2.0","id":1,"result":[[]}`, false},
		{"a backslash between strings", `{"jsonrpc":"2.0","id":1,"result":[\\"]", \"]}`, true},
		{"a newline in a string", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[\"long enough \n text\"]}", false},
		{"a return in a string", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"long enough \r text\"}", false},
		{"bad UTF-8 in the method", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"long enough \xff text\"}", false},
		{"bad UTF-8 in the id", "{\"jsonrpc\":\"2.0\",\"id\":\"long enough \xff text\",\"result\":1}", false},
		{"bad UTF-8 in another member", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"x\":\"long enough \xff text\"}", false},
		{"bad UTF-8 in the token", "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"progressToken\":\"long enough \xff text\"}}", false},
		{"bad UTF-8 in a parameter's name", "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"long enough \xff text\":1}}", false},
		{"deep", `{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 511) + strings.Repeat("]", 511) + `}`, true},
		{"too deep", `{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 512) + strings.Repeat("]", 512) + `}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse([]byte(c.frame), trust)
			require.Equal(t, c.ok, err == nil, "%v", err)
			if c.ok {
				require.Equal(t, KindResult, m.Kind)
				require.Equal(t, c.frame[len(`{"jsonrpc":"2.0","id":1,"result":`):len(c.frame)-1], string(m.Result()))
			}
		})
	}
}
