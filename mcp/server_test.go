package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
)

func TestDescriptionsAreChecked(t *testing.T) {
	handle := func(context.Context, *mcp.Request) (*mcp.ToolResult, error) { return nil, nil }
	raw := func(name, schema string) mcp.ServerTool {
		return mcp.ServerTool{Tool: mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, Handle: handle}
	}
	for want, change := range map[string]func(*mcp.Description){
		`Info needs a Name and a Version`:                 func(d *mcp.Description) { d.Info.Version = "" },
		`Key has 3 bytes, needs 16`:                       func(d *mcp.Description) { d.Key = []byte("key") },
		`Revisions has "2024-11-05"`:                      func(d *mcp.Description) { d.Revisions = []mcp.Revision{"2024-11-05"} },
		`Revisions is empty`:                              func(d *mcp.Description) { d.Revisions = []mcp.Revision{} },
		`tool "echo" stands twice`:                        func(d *mcp.Description) { d.Tools = append(d.Tools, d.Tools[0]) },
		`tool "a b": the name is not`:                     func(d *mcp.Description) { d.Tools = append(d.Tools, raw("a b", "")) },
		`tool "": the name is not`:                        func(d *mcp.Description) { d.Tools = append(d.Tools, raw("", "")) },
		`tool "x" has no handler`:                         func(d *mcp.Description) { d.Tools = append(d.Tools, mcp.ServerTool{Tool: mcp.Tool{Name: "x"}}) },
		`tool "x": input schema: its type is not "object`: func(d *mcp.Description) { d.Tools = append(d.Tools, raw("x", `{"type":"array"}`)) },
		`tool "x": input schema: `:                        func(d *mcp.Description) { d.Tools = append(d.Tools, raw("x", `{"type":`)) },
		`tool "x": property "a": x-mcp-header is no header name`: func(d *mcp.Description) {
			d.Tools = append(d.Tools, raw("x", `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"a b"}}}`))
		},
		`tool "x": property "b": x-mcp-header "A" stands twice`: func(d *mcp.Description) {
			d.Tools = append(d.Tools, raw("x", `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"a"},"b":{"type":"string","x-mcp-header":"A"}}}`))
		},
		`tool "x": property "a": x-mcp-header needs a string`: func(d *mcp.Description) {
			d.Tools = append(d.Tools, raw("x", `{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"a"}}}`))
		},
		`tool "x": input schema of chan int`: func(d *mcp.Description) {
			d.Tools = append(d.Tools, mcp.NewTool(mcp.Tool{Name: "x"}, func(context.Context, *mcp.Request, chan int) (string, error) { return "", nil }))
		},
		`tool "x": input schema of int: it is no object`: func(d *mcp.Description) {
			d.Tools = append(d.Tools, mcp.NewTool(mcp.Tool{Name: "x"}, func(context.Context, *mcp.Request, int) (string, error) { return "", nil }))
		},
		`tool "x": output schema of func()`: func(d *mcp.Description) {
			d.Tools = append(d.Tools, mcp.NewTool(mcp.Tool{Name: "x"}, func(context.Context, *mcp.Request, struct{}) (func(), error) { return nil, nil }))
		},
		`resource "": it needs a URI and a Name`: func(d *mcp.Description) { d.Resources = []mcp.ServerResource{{}} },
		`resource "a" has no handler`: func(d *mcp.Description) {
			d.Resources = []mcp.ServerResource{{Resource: mcp.Resource{URI: "a", Name: "a"}}}
		},
		`resource "test://text" stands twice`:                func(d *mcp.Description) { d.Resources = append(d.Resources, d.Resources[0]) },
		`template "": it needs a URITemplate and a Name`:     func(d *mcp.Description) { d.Templates = []mcp.ServerTemplate{{}} },
		`template "test://item/{id}/data" stands twice`:      func(d *mcp.Description) { d.Templates = append(d.Templates, d.Templates[0]) },
		`template "a{?b}": {?b} is neither`:                  func(d *mcp.Description) { d.Templates[0].URITemplate = "a{?b}" },
		`template "a{b": a { without a }`:                    func(d *mcp.Description) { d.Templates[0].URITemplate = "a{b" },
		`template "a}b": a } without a {`:                    func(d *mcp.Description) { d.Templates[0].URITemplate = "a}b" },
		`template "a{b}{c}": nothing stands between {b} and`: func(d *mcp.Description) { d.Templates[0].URITemplate = "a{b}{c}" },
		`a prompt needs a Name`:                              func(d *mcp.Description) { d.Prompts = []mcp.ServerPrompt{{}} },
		`prompt "poem" stands twice`:                         func(d *mcp.Description) { d.Prompts = append(d.Prompts, d.Prompts[0]) },
		`prompt "x" has no handler`:                          func(d *mcp.Description) { d.Prompts = []mcp.ServerPrompt{{Prompt: mcp.Prompt{Name: "x"}}} },
		`Experimental or Extensions`:                         func(d *mcp.Description) { d.Experimental = mcp.Meta{"x": json.RawMessage("{")} },
	} {
		d := everything()
		change(&d)
		_, err := mcp.NewServer(d)
		require.ErrorContains(t, err, want)
	}
}

func TestServerTellsWhatItIs(t *testing.T) {
	s := newServer(t, func(d *mcp.Description) {
		d.Revisions = []mcp.Revision{mcp.Revision20250618, mcp.Modern}
		d.Extensions = mcp.Meta{"com.example/x": json.RawMessage(`{ "a": 1 }`)}
	})
	require.Equal(t, "fixture", s.Info().Name)
	require.Equal(t, []mcp.Revision{mcp.Modern, mcp.Revision20250618}, s.Revisions())
	require.NotNil(t, s.Capabilities().Logging)
	require.Contains(t, string(s.Capabilities().Extensions["com.example/x"]), "1")
	require.True(t, mcp.Modern.IsModern())
	require.False(t, mcp.Revision("").IsModern())
	require.True(t, mcp.Revision20250326.HasBatches())
	require.True(t, mcp.Revision20251125.IsLegacy())
	require.False(t, mcp.Revision("2024-11-05").IsLegacy())
}

// call runs one tool and gives the result's text.
func call(t *testing.T, tool mcp.ServerTool, arguments string, revision mcp.Revision) string {
	t.Helper()
	p := &player{t: t, runs: map[mcp.InvocationID]*mcp.Invocation{}}
	p.reset(func(d *mcp.Description) { d.Tools = []mcp.ServerTool{tool} })
	meta := "," + metaText
	if !revision.IsModern() {
		meta = ""
		p.play("recv 1 " + hello)
	}
	p.play(`recv 2 {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool.Name + `","arguments":` + arguments + meta + `}}`)
	return p.play("perform 2.1")[0]
}

func TestResultsOfTypedTools(t *testing.T) {
	type point struct {
		X float64 `json:"x"`
	}
	for name, c := range map[string]struct {
		tool mcp.ServerTool
		want string
	}{
		"a string": {tool(func() (string, error) { return "a", nil }), `"content":[{"type":"text","text":"a"}],"_meta"`},
		"a block":  {tool(func() (mcp.Content, error) { return mcp.Text("a"), nil }), `"content":[{"type":"text","text":"a"}],"_meta"`},
		"blocks":   {tool(func() ([]mcp.Content, error) { return nil, nil }), `"content":[],"_meta"`},
		"a result": {tool(func() (*mcp.ToolResult, error) { return mcp.ToolFailure("no"), nil }), `"content":[{"type":"text","text":"no"}],"isError":true`},
		"nothing":  {tool(func() (*mcp.ToolResult, error) { return nil, nil }), `"content":[],"_meta"`},
		"a struct": {tool(func() (point, error) { return point{1.5}, nil }), `"content":[{"type":"text","text":"{\"x\":1.5}"}],"structuredContent":{"x":1.5}`},
		"a list":   {tool(func() ([]int, error) { return []int{1, 2}, nil }), `"structuredContent":[1,2]`},
		"its own meta": {tool(func() (*mcp.ToolResult, error) {
			return &mcp.ToolResult{Meta: mcp.Meta{"a/b": json.RawMessage("1")}}, nil
		}), `"version":"1.0.0"},"a/b":1}`},
		"bad meta": {tool(func() (*mcp.ToolResult, error) {
			return &mcp.ToolResult{Meta: mcp.Meta{"a": json.RawMessage("{")}}, nil
		}), `"error":{"code":-32603,"message":"Internal error"}`},
		"bad output": {tool(func() (*mcp.ToolResult, error) { return &mcp.ToolResult{Structured: json.RawMessage("{")}, nil }), `"error":{"code":-32603,"message":"Internal error"}`},
		"an error":   {tool(func() (string, error) { return "", errors.New("broken \"pipe\"") }), `"text":"broken \"pipe\""}],"isError":true`},
	} {
		require.Contains(t, call(t, c.tool, "{}", mcp.Modern), c.want, name)
	}
	list := tool(func() ([]int, error) { return []int{1}, nil })
	require.NotContains(t, call(t, list, "{}", mcp.Revision20251125), "structuredContent", "the older era has objects alone")
}

// tool makes a tool that takes nothing.
func tool[Out any](f func() (Out, error)) mcp.ServerTool {
	return mcp.NewTool(mcp.Tool{Name: "t"}, func(context.Context, *mcp.Request, struct{}) (Out, error) { return f() })
}

func TestArgumentsOfTypedTools(t *testing.T) {
	type inner struct {
		A int `json:"a"`
	}
	type in struct {
		Name  string   `json:"name"`
		List  []string `json:"list,omitempty"`
		Inner *inner   `json:"inner,omitempty"`
	}
	nested := mcp.NewTool(mcp.Tool{Name: "t"}, func(_ context.Context, _ *mcp.Request, v in) (in, error) { return v, nil })
	ranged := mcp.NewTool(mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","maximum":3}}}`)},
		func(_ context.Context, _ *mcp.Request, v map[string]any) (string, error) { return "fine", nil })
	flat := mcp.NewTool(mcp.Tool{Name: "t"}, echo)
	for name, c := range map[string]struct {
		tool            mcp.ServerTool
		arguments, want string
	}{
		"nested":             {nested, `{"name":"n","list":["a"],"inner":{"a":1}}`, `"structuredContent":{"name":"n","list":["a"],"inner":{"a":1}}`},
		"nested, missing":    {nested, `{"name":"n","inner":{}}`, `"isError":true`},
		"nested, of no type": {nested, `{"name":"n","inner":{"a":"x"}}`, `"code":-32602`},
		"in range":           {ranged, `{"n":3}`, `"fine"`},
		"out of range":       {ranged, `{"n":4}`, `"isError":true`},
		"flat":               {flat, `{"text":"a"}`, `"text":"a"`},
		"another case":       {flat, `{"Text":"a"}`, `"isError":true`},
		"null":               {flat, `{"text":null}`, `"isError":true`},
		"twice, and missing": {mcp.NewTool(mcp.Tool{Name: "t"}, func(_ context.Context, _ *mcp.Request, v struct {
			A string `json:"a"`
			B string `json:"b"`
		}) (string, error) {
			return "fine", nil
		}), `{"a":"1","a":"2"}`, `"isError":true`},
		"anything": {mcp.NewTool(mcp.Tool{Name: "t"}, func(_ context.Context, _ *mcp.Request, v any) (any, error) { return v, nil }), `{"a":[1]}`, `"structuredContent":{"a":[1]}`},
	} {
		require.Contains(t, call(t, c.tool, c.arguments, mcp.Modern), c.want, name)
	}
}
