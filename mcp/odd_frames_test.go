package mcp_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// What real servers treat differently, and what we do: no bad frame ends anything,
// what can be read is answered under its id, and nothing is guessed.
func TestOddFrames(t *testing.T) {
	ok := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"result":{}}`
	}
	refused := func(id string, code int, message string) string {
		if id != "" {
			id = `"id":` + id + `,`
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0",%s"error":{"code":%d,"message":%q}}`, id, code, message)
	}
	const noMeta = "Invalid params: params must be an object with _meta"
	for name, c := range map[string]struct {
		frame string
		want  string // "" for nothing at all
	}{
		"broken JSON":             {`{"jsonrpc":"2.0","id":1,"method":"pi`, refused("1", -32700, "Parse error")},
		"a banner":                {"Server listening on port 80", refused("", -32700, "Parse error")},
		"a byte order mark":       {"\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, refused("", -32700, "Parse error")},
		"jsonrpc 1.0":             {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, refused("1", -32600, "Invalid request")},
		"no jsonrpc":              {`{"id":1,"method":"ping"}`, refused("1", -32600, "Invalid request")},
		"space before the LF":     {`{"jsonrpc":"2.0","id":1,"method":"ping"} `, ok("1")},
		"CR before the LF":        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r", ok("1")},
		"pretty-printed":          {"{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"method\": \"ping\"\n}", ok("1")},
		"two objects":             {`{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, refused("1", -32700, "Parse error")},
		"id null":                 {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, refused("", -32600, "Invalid request")},
		"id 1.5":                  {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, refused("", -32600, "Invalid request")},
		"id 2^53+1":               {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, ok("9007199254740993")},
		"id of 50 digits":         {`{"jsonrpc":"2.0","id":12345678901234567890123456789012345678901234567890,"method":"ping"}`, ok("12345678901234567890123456789012345678901234567890")},
		"id -1":                   {`{"jsonrpc":"2.0","id":-1,"method":"ping"}`, ok("-1")},
		"id empty":                {`{"jsonrpc":"2.0","id":"","method":"ping"}`, ok(`""`)},
		"id 1e2":                  {`{"jsonrpc":"2.0","id":1e2,"method":"ping"}`, refused("", -32600, "Invalid request")},
		"id true":                 {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, refused("", -32600, "Invalid request")},
		"id object":               {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, refused("", -32600, "Invalid request")},
		"batch":                   {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, refused("", -32600, "Batches are not supported")},
		"params array":            {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`, refused("1", -32602, noMeta)},
		"legacy, no initialize":   {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, refused("1", -32602, noMeta)},
		"response":                {`{"jsonrpc":"2.0","id":1,"result":{}}`, ""},
		"error response":          {`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"x"}}`, ""},
		"error without id":        {`{"jsonrpc":"2.0","error":{"code":-32000,"message":"x"}}`, ""},
		"error with id null":      {`{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"x"}}`, ""},
		"invalid UTF-8":           {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"\xff\"}}", refused("1", -32700, "Parse error")},
		"a raw control character": {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\"\x01\"}}", refused("1", -32700, "Parse error")},
	} {
		t.Run(name, func(t *testing.T) {
			p := &player{t: t}
			p.reset()
			p.feed(c.frame)
			var want []string
			if c.want != "" {
				want = []string{c.want}
			}
			require.Equal(t, want, p.read)
			require.Zero(t, p.state.Live())
			p.read = nil
			p.feed(`{"jsonrpc":"2.0","id":"after","method":"ping"}`)
			require.Equal(t, []string{ok(`"after"`)}, p.read, "the connection goes on")
		})
	}
}

// A session of the older era takes modern requests, answered as such; go-sdk and
// the TypeScript server leave resultType out there.
func TestModernRequestInASession(t *testing.T) {
	read := peerScript(t, "recv 1 "+hello, "recv 2 "+fmt.Sprintf(slowID, "1"), "perform 2.1")
	require.Contains(t, read[1], `"resultType":"complete"`)
	require.Contains(t, read[1], `"io.modelcontextprotocol/serverInfo"`)
}

func TestDeepNesting(t *testing.T) {
	deep := func(n int) string {
		text := ""
		for range n {
			text += "["
		}
		for range n {
			text += "]"
		}
		return `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":` + text + `}}`
	}
	p := &player{t: t}
	p.reset()
	p.feed(deep(62))
	p.feed(deep(63))
	require.Equal(t, []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Nested too deep"}}`,
	}, p.read)
}
