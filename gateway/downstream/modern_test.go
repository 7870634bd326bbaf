package downstream

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/codec"
)

// What is no request of the modern era never reaches a server, and has the HTTP status
// that MCP names for it.
func TestUnfitModernRequests(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for frame, want := range map[string]int{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`:                                                                                 0,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`:                                                                                                         400,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`:                                                                                             400,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}}`:                                    400,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`:                             400,
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":1,"io.modelcontextprotocol/clientCapabilities":{}}}}`: 400,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{` + meta + `}}`:                                                                                 404,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{` + meta + `}}`:                                                                                       404,
		`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{` + meta + `}}`:                                                                           404,
		`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{` + meta + `}}`:                                                                        404,
		`{"jsonrpc":"2.0","id":1,"method":"resources/unsubscribe","params":{` + meta + `}}`:                                                                      404,
	} {
		m, err := codec.Parse([]byte(frame), codec.ScanOptions{})
		require.NoError(t, err)
		refusal, status := unfit(&m)
		require.Equal(t, want, status, frame)
		require.Equal(t, want == 0, refusal == nil, frame)
	}
}
