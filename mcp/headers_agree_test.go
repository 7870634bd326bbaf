package mcp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
	"github.com/correlator-go/correlator/mcp"
)

func TestHeadersAgree(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	for _, c := range []struct {
		name, frame string
		headers     mcp.Headers
		agree       bool
	}{
		{"all", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add",` + meta + `}}`, mcp.Headers{Version: "2026-07-28", Method: "tools/call", Name: "add"}, true},
		{"escaped", `{"jsonrpc":"2.0","id":1,"method":"tools\/call","params":{"name":"\u0061dd",` + meta + `}}`, mcp.Headers{Version: "2026-07-28", Method: "tools/call", Name: "add"}, true},
		{"uri", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a://ü",` + meta + `}}`, mcp.Headers{Version: "2026-07-28", Method: "resources/read", Name: mcp.EncodeHeader("a://ü")}, true},
		{"nothing to name", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`, mcp.Headers{Version: "2026-07-28", Method: "tools/list"}, true},
		{"no version", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, mcp.Headers{Version: "2026-07-28", Method: "tools/list"}, true},
		{"other version", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`, mcp.Headers{Version: "2025-11-25", Method: "tools/list"}, false},
		{"other method", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`, mcp.Headers{Version: "2026-07-28", Method: "tools/call"}, false},
		{"other name", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"del",` + meta + `}}`, mcp.Headers{Version: "2026-07-28", Method: "tools/call", Name: "add"}, false},
		{"no name", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add",` + meta + `}}`, mcp.Headers{Version: "2026-07-28", Method: "tools/call"}, false},
		{"two versions", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/protocolVersion":"2025-11-25"}}}`, mcp.Headers{Version: "2026-07-28", Method: "tools/list"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := codec.Parse([]byte(c.frame), codec.ScanOptions{})
			require.NoError(t, err)
			require.Equal(t, c.agree, c.headers.Agree(&m))
		})
	}
}

// Arguments that a tool's schema marks stand in headers as well, decoded where they are
// encoded; what it marks wrongly is not wanted.
func TestHeadersRepeat(t *testing.T) {
	const schema = `{"properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"}}}`
	for _, c := range []struct {
		name, schema, arguments string
		headers                 map[string]string
		repeat                  bool
	}{
		{"all", schema, `{"region":"eu","n":1}`, map[string]string{"Region": "eu", "N": "1"}, true},
		{"encoded", schema, `{"region":"ü"}`, map[string]string{"Region": mcp.EncodeHeader("ü")}, true},
		{"none", schema, `{}`, nil, true},
		{"another", schema, `{"region":"eu"}`, map[string]string{"Region": "us"}, false},
		{"left out", schema, `{"region":"eu"}`, nil, false},
		{"too many", schema, `{}`, map[string]string{"Region": "eu"}, false},
		{"rubbish", schema, `{"region":"eu"}`, map[string]string{"Region": "=?base64?%%?="}, false},
		{"wrong schema", `{"properties":{"region":{"type":"array","x-mcp-header":"Region"}}}`, `{"region":[]}`, nil, true},
	} {
		h := mcp.Headers{Param: func(name string) (string, bool) { v, ok := c.headers[name]; return v, ok }}
		require.Equal(t, c.repeat, h.Repeat([]byte(c.schema), []byte(c.arguments)), c.name)
	}
	require.True(t, (&mcp.Headers{}).Repeat([]byte(schema), []byte(`{"region":"eu"}`)), "nobody compares")
}
