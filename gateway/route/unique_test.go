package route_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
)

// What is read or rewritten stands once at its level, however it is spelt, or the frame
// is refused: both ways.
func TestSecondMemberIsRefused(t *testing.T) {
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}`,
		`{"jsonrpc":"2.0","id":1,"i\u0064":2,"method":"m"}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","method":"n"}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","m\u0065thod":"n"}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{},"params":{}}`,
		`{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"m"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","\u006eame":"b"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a","uri":"b"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a","ur\u0069":"b"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{},"_meta":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{},"\u005fmeta":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"progressToken":1,"progressToken":2}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"progressToken":1,"progress\u0054oken":2}}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progressToken":2}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"\u0070rogressToken":2}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"requestId":2}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"request\u0049d":2}}`,
		`{"jsonrpc":"2.0","method":"n","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1,"io.modelcontextprotocol/subscriptionId":2}}}`,
		`{"jsonrpc":"2.0","method":"n","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1,"io.modelcontextprotocol\/subscriptionId":2}}}`,
		`{"jsonrpc":"2.0","id":1,"result":1,"result":2}`,
		`{"jsonrpc":"2.0","id":1,"id":2,"result":1}`,
		`{"jsonrpc":"2.0","id":1,"error":{},"error":{}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"_meta":{},"_meta":{}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":1,"io.modelcontextprotocol/subscriptionId":2}}}`,
	} {
		_, err := codec.Parse([]byte(frame), codec.ScanOptions{})
		require.ErrorIs(t, err, codec.ErrDuplicateMember, frame)
		syntax, ok := errors.AsType[*codec.SyntaxError](err)
		require.True(t, ok, frame)
		require.Equal(t, codec.CodeInvalidRequest, syntax.Code, frame)
	}
}

// Names of another case, and the same names elsewhere, are other members: they pass.
func TestC05LookAlikesPass(t *testing.T) {
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","Method":"tools/call","params":{"name":"safe","Name":"danger"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe","arguments":{"name":"x","name":"y"}},"param` + "\u017f" + `":{"name":"danger"}}`,
		`{"jsonrpc":"2.0","id":1,"ID":2,"Id":3,"method":"m"}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"progresstoken":1,"progressToken":2,"x":{"progressToken":3}},"_Meta":{}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"id":1,"result":2,"_meta":{"SubscriptionId":1}},"Result":3}`,
	} {
		m, err := codec.Parse([]byte(frame), codec.ScanOptions{})
		require.NoError(t, err, frame)
		require.NotContains(t, strings.ToLower(string(m.Name())), "danger")
	}
}
