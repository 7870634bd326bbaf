package downstream_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/gateway"
	"github.com/correlator-go/correlator/gateway/downstream"
	"github.com/correlator-go/correlator/serve"
)

// A client over HTTP that does not read its response holds up nobody: what waits for it is
// bounded, of progress beyond that only the last is kept, and others go on.
func TestSlowClientOverHTTP(t *testing.T) {
	const buffer = 64 << 10
	o := downstream.HTTPOptions{Limits: serve.Options{WriteBuffer: buffer}}
	w := serveWeb(t, gateway.Upstream{Isolation: gateway.Shared}, o, downstream.ServerOptions{})
	c := w.dialed()
	body := strings.Replace(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, `"name":"x"`, `"name":"x","_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`, 1)
	_, err := io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: "+w.address+"\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: x\r\nContent-Length: "+itoa(int64(len(body)))+"\r\n\r\n"+body)
	require.NoError(t, err)
	way := w.server.Way(0)
	number, _ := way.NextRequest()
	text := strings.Repeat("x", 1<<10)
	// More than any socket takes.
	for n := 1; w.g.Stats().Coalesced == 0; n++ {
		require.Less(t, n, 1<<16, "what waits is not bounded")
		way.Say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + number + `,"progress":` + itoa(int64(n)) + `,"message":"` + text + `"}}`)
	}
	other := w.call("2", "y")
	second, _ := way.NextRequest()
	way.Say(`{"jsonrpc":"2.0","id":` + second + `,"result":{"resultType":"complete"}}`)
	require.Contains(t, (<-other).all(), `"id":2`)

	// The answer is not dropped: it is there when the client reads at last.
	way.Say(`{"jsonrpc":"2.0","id":` + number + `,"result":{"resultType":"complete"}}`)
	var tail []byte
	buf := make([]byte, 1<<20)
	for !strings.Contains(string(tail), `"id":1,"result"`) {
		n, err := c.Read(buf)
		require.NoError(t, err)
		tail = append(tail[max(0, len(tail)-100):], buf[:n]...)
	}
	require.NoError(t, c.Close())
}
