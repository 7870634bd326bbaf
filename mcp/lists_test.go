package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
)

func many(n int) []mcp.ServerTool {
	tools := make([]mcp.ServerTool, n)
	for i := range tools {
		tools[i] = mcp.NewTool(mcp.Tool{Name: fmt.Sprintf("tool-%03d", i)}, echo)
		if i%2 == 1 {
			tools[i].Visible = func(c mcp.Caller) bool { return c.Value == "staff" }
		}
	}
	return tools
}

type page struct {
	Result mcp.ListToolsResult
	Error  *struct{ Code int }
}

func listTools(t *testing.T, s *mcp.Server, c mcp.Caller, method string, cursor *string) page {
	t.Helper()
	frame := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, metaText)
	if cursor != nil {
		frame = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"cursor":%q,%s}}`, method, *cursor, metaText)
	}
	state := mcp.Init(s, mcp.Options{})
	var got page
	for _, e := range mcp.Step(state, mcp.Received{Exchange: 1, Frame: []byte(frame), Caller: c}, nil) {
		if e.Kind == mcp.Write {
			require.NoError(t, json.Unmarshal(e.Frame, &got))
		}
	}
	return got
}

// Pages are of 100, of what the caller sees; a cursor is good for every connection
// of the server, and for nothing and nobody else.
func TestPagesAndCursors(t *testing.T) {
	s := newServer(t, func(d *mcp.Description) { d.Tools = many(250) })
	staff := mcp.Caller{Value: "staff"}
	var names []string
	var cursor *string
	for range 3 {
		got := listTools(t, s, staff, mcp.MethodListTools, cursor)
		for _, tool := range got.Result.Tools {
			names = append(names, tool.Name)
		}
		cursor = got.Result.NextCursor
	}
	require.Nil(t, cursor)
	require.Equal(t, s.ToolNames(), names)

	first := listTools(t, s, mcp.Caller{}, mcp.MethodListTools, nil)
	require.Len(t, first.Result.Tools, 100)
	require.Equal(t, "tool-198", first.Result.Tools[99].Name)
	require.Equal(t, "private", first.Result.CacheScope)
	second := listTools(t, s, mcp.Caller{}, mcp.MethodListTools, first.Result.NextCursor)
	require.Len(t, second.Result.Tools, 25)
	require.Nil(t, second.Result.NextCursor)

	twin := newServer(t, func(d *mcp.Description) { d.Tools = many(250) })
	require.Nil(t, listTools(t, twin, mcp.Caller{}, mcp.MethodListTools, first.Result.NextCursor).Error, "the same key")
	other := newServer(t, func(d *mcp.Description) { d.Tools, d.Key = many(250), nil })
	for name, got := range map[string]page{
		"another server": listTools(t, other, mcp.Caller{}, mcp.MethodListTools, first.Result.NextCursor),
		"another family": listTools(t, s, mcp.Caller{}, mcp.MethodListPrompts, first.Result.NextCursor),
		"another caller": listTools(t, s, mcp.Caller{Principal: "eve"}, mcp.MethodListTools, first.Result.NextCursor),
	} {
		require.NotNil(t, got.Error, name)
		require.Equal(t, -32602, got.Error.Code, name)
	}
}

// A list with nothing hidden may be shared, if the description says so.
func TestCacheScope(t *testing.T) {
	s := newServer(t, func(d *mcp.Description) {
		d.Cache = mcp.Cache{TTLMillis: 5000, Public: true}
		d.Tools = d.Tools[:2]
	})
	got := listTools(t, s, mcp.Caller{}, mcp.MethodListTools, nil)
	require.Equal(t, "public", got.Result.CacheScope)
	require.Equal(t, int64(5000), got.Result.TTLMillis)
	s = newServer(t, func(d *mcp.Description) { d.Cache.Public = true })
	require.Equal(t, "private", listTools(t, s, mcp.Caller{}, mcp.MethodListTools, nil).Result.CacheScope)
}

// Tools that came or went are listed, called and declared as they are now, on this
// connection alone.
func TestRegisteredToolsAreOfTheConnection(t *testing.T) {
	s := newServer(t)
	p := &player{t: t, runs: map[mcp.InvocationID]*mcp.Invocation{}}
	p.state = mcp.Init(s, mcp.Options{})
	before := s.ToolNames()
	p.play("register newest")
	require.Equal(t, append(before, "newest"), p.state.Server().ToolNames())
	p.play(`recv 1 {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"newest","arguments":{"text":"x"},` + metaText + `}}`)
	p.play("unregister newest")
	require.Equal(t, before, p.state.Server().ToolNames())
	require.Contains(t, p.play("perform 1.1")[0], `"text":"x"`, "what runs goes on")
	require.Contains(t, p.play(`recv 2 {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"newest",` + metaText + `}}`)[0], "Unknown tool")
	require.Equal(t, before, s.ToolNames())
}

// Listed, but not for everybody to call.
func TestCallable(t *testing.T) {
	s := newServer(t, func(d *mcp.Description) {
		d.Tools = []mcp.ServerTool{{
			Tool:     mcp.Tool{Name: "guarded"},
			Handle:   func(context.Context, *mcp.Request) (*mcp.ToolResult, error) { return nil, nil },
			Callable: func(c mcp.Caller) bool { return c.Principal == "ann" },
		}}
	})
	require.Len(t, listTools(t, s, mcp.Caller{}, mcp.MethodListTools, nil).Result.Tools, 1)
	frame := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"guarded",` + metaText + `}}`)
	state := mcp.Init(s, mcp.Options{})
	refused := mcp.Step(state, mcp.Received{Exchange: 1, Frame: frame}, nil)
	require.Equal(t, mcp.RefusedParams, refused[0].Refusal)
	require.Equal(t, -32602, refused[0].Code)
	admitted := mcp.Step(state, mcp.Received{Exchange: 2, Frame: frame, Caller: mcp.Caller{Principal: "ann"}}, nil)
	require.Equal(t, mcp.Start, admitted[1].Kind)
	require.Equal(t, "ann", admitted[1].Run.Caller().Principal)
}
