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
