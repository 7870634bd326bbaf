package mcp_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
)

func TestHeaderValues(t *testing.T) {
	for value, header := range map[string]string{
		"":                  "",
		"plain":             "plain",
		"two words":         "two words",
		" edge":             "=?base64?IGVkZ2U=?=",
		"edge ":             "=?base64?ZWRnZSA=?=",
		"grüß":              "=?base64?Z3LDvMOf?=",
		"a\nb":              "=?base64?YQpi?=",
		"=?base64?SGk=?=":   "=?base64?PT9iYXNlNjQ/U0drPT89?=",
		"=?base64?SGVsbG8=": "=?base64?SGVsbG8=",
	} {
		require.Equal(t, header, mcp.EncodeHeader(value), value)
		back, ok := mcp.DecodeHeader(header)
		require.True(t, ok)
		require.Equal(t, value, back)
	}
	for _, bad := range []string{"=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?="} {
		_, ok := mcp.DecodeHeader(bad)
		require.False(t, ok, bad)
	}
}

// Over HTTP the headers must say what the body says. The version is compared
// before it is judged.
func TestHeadersAreCompared(t *testing.T) {
	s := newServer(t, func(d *mcp.Description) {
		tool := d.Tools[0]
		tool.InputSchema = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","x-mcp-header":"Text"},"n":{"type":"integer","x-mcp-header":"N"}}}`)
		d.Tools = append(d.Tools, mcp.ServerTool{Tool: tool.Tool, Handle: tool.Handle})
		d.Tools[len(d.Tools)-1].Name = "mirrored"
	})
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mirrored","arguments":%s,` + metaText + `}}`
	good := mcp.Headers{Version: "2026-07-28", Method: "tools/call", Name: "mirrored"}
	params := func(pairs ...string) func(string) (string, bool) {
		return func(name string) (string, bool) {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1], true
				}
			}
			return "", false
		}
	}
	for name, c := range map[string]struct {
		frame string
		h     mcp.Headers
		code  int
	}{
		"all agree":              {fmt.Sprintf(call, `{}`), good, 0},
		"no version":             {fmt.Sprintf(call, `{}`), mcp.Headers{Method: "tools/call", Name: "mirrored"}, -32020},
		"another version":        {fmt.Sprintf(call, `{}`), mcp.Headers{Version: "2025-11-25", Method: "tools/call", Name: "mirrored"}, -32020},
		"another method":         {fmt.Sprintf(call, `{}`), mcp.Headers{Version: good.Version, Method: "tools/list", Name: "mirrored"}, -32020},
		"no name":                {fmt.Sprintf(call, `{}`), mcp.Headers{Version: good.Version, Method: "tools/call"}, -32020},
		"an encoded name":        {fmt.Sprintf(call, `{}`), mcp.Headers{Version: good.Version, Method: "tools/call", Name: "=?base64?bWlycm9yZWQ=?="}, 0},
		"a broken name":          {fmt.Sprintf(call, `{}`), mcp.Headers{Version: good.Version, Method: "tools/call", Name: "=?base64?bWl?="}, -32020},
		"no name in the body":    {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + metaText + `}}`, good, -32602},
		"no _meta":               {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, mcp.Headers{Version: good.Version, Method: "tools/list"}, -32602},
		"initialize":             {hello, mcp.Headers{Version: good.Version, Method: "initialize"}, -32602},
		"a version of the dream": {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}}`, mcp.Headers{Version: "2099-01-01", Method: "tools/list"}, -32022},
		"repeated":               {fmt.Sprintf(call, `{"text":"Hi","n":1}`), with(good, params("Text", "Hi", "N", "1.0")), 0},
		"repeated in base64":     {fmt.Sprintf(call, `{"text":"Hi"}`), with(good, params("Text", "=?base64?SGk=?=")), 0},
		"one not repeated":       {fmt.Sprintf(call, `{"text":"Hi"}`), with(good, params()), -32020},
		"one too many":           {fmt.Sprintf(call, `{"text":null}`), with(good, params("Text", "Hi")), -32020},
		"another one":            {fmt.Sprintf(call, `{"text":"Hi"}`), with(good, params("Text", "Ho")), -32020},
		"another number":         {fmt.Sprintf(call, `{"n":1}`), with(good, params("N", "2")), -32020},
		"a broken one":           {fmt.Sprintf(call, `{"text":"Hi"}`), with(good, params("Text", "=?base64?SGk?=")), -32020},
	} {
		h := c.h
		effects := mcp.Step(mcp.Init(s, mcp.Options{}), mcp.Received{Exchange: 1, Frame: []byte(c.frame), Headers: &h}, nil)
		if c.code == 0 {
			require.Equal(t, mcp.Admitted, effects[0].Kind, "%s: %s", name, effects[0].Frame)
			continue
		}
		require.Equal(t, c.code, effects[0].Code, "%s: %s", name, effects[0].Frame)
	}
}

func with(h mcp.Headers, param func(string) (string, bool)) mcp.Headers {
	h.Param = param
	return h
}

// A response has no place in a request of the modern era over HTTP, whatever
// session there is.
func TestResponsesOverModernHTTP(t *testing.T) {
	p := &player{t: t}
	p.reset()
	p.feed(hello)
	effects := mcp.Step(p.state, mcp.Received{Exchange: 9, Frame: []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`), Headers: &mcp.Headers{}}, nil)
	require.Len(t, effects, 1)
	require.Equal(t, mcp.Close, effects[0].Kind)
}
