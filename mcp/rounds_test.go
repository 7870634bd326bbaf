package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/mcp"
)

// A request state is good for so long, on every connection of the server, and for
// arguments however they are written.
func TestRequestStates(t *testing.T) {
	const minute = 60_000
	remember := func(d *mcp.Description) {
		d.Tools = []mcp.ServerTool{{Tool: mcp.Tool{Name: "t"}, Handle: func(_ context.Context, r *mcp.Request) (*mcp.ToolResult, error) {
			if r.Round() == 0 {
				return nil, &mcp.InputRequired{State: "what was"}
			}
			return mcp.ToolText(fmt.Sprintf("%d: %s", r.Round(), r.State())), nil
		}}}
	}
	server := newServer(t, remember)
	ask := func(s *mcp.Server, at int64, arguments, state string) string {
		if state != "" {
			state = fmt.Sprintf(`"requestState":%q,`, state)
		}
		c := mcp.Init(s, mcp.Options{})
		effects := mcp.Step(c, mcp.Received{Exchange: 1, At: at, Frame: []byte(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":` + arguments + `,` + state + metaText + `}}`)}, nil)
		if effects[0].Kind == mcp.Write {
			return string(effects[0].Frame)
		}
		return string(mcp.Step(c, mcp.Perform(context.Background(), effects[1].Run, nil), nil)[0].Frame)
	}
	var asked struct{ Result mcp.ToolResult }
	require.NoError(t, json.Unmarshal([]byte(ask(server, 5*minute, `{"a":1,"b":[1.0,"x"]}`, "")), &asked))
	require.Equal(t, mcp.ResultInputRequired, asked.Result.ResultType)
	require.Empty(t, asked.Result.InputRequests, "the client is to come again as it is")
	state := *asked.Result.RequestState

	const good, bad = "1: what was", "Invalid request state"
	for name, c := range map[string]struct {
		server    *mcp.Server
		at        int64
		arguments string
		want      string
	}{
		"at once":              {server, 5 * minute, `{"a":1,"b":[1.0,"x"]}`, good},
		"written anew":         {server, 5 * minute, `{ "b":[1.0,"\u0078"], "a":1 }`, good},
		"other arguments":      {server, 5 * minute, `{"a":2,"b":[1.0,"x"]}`, bad},
		"as late as can be":    {server, 20 * minute, `{"a":1,"b":[1.0,"x"]}`, good},
		"too late":             {server, 20*minute + 1, `{"a":1,"b":[1.0,"x"]}`, bad},
		"nobody knows when":    {server, 0, `{"a":1,"b":[1.0,"x"]}`, good},
		"the same key":         {newServer(t, remember), 5 * minute, `{"a":1,"b":[1.0,"x"]}`, good},
		"another key":          {newServer(t, remember, func(d *mcp.Description) { d.Key = nil }), 5 * minute, `{"a":1,"b":[1.0,"x"]}`, bad},
		"good for an eternity": {newServer(t, remember, func(d *mcp.Description) { d.StateTTLMillis = -1 }), 1 << 50, `{"a":1,"b":[1.0,"x"]}`, good},
		"good for a moment":    {newServer(t, remember, func(d *mcp.Description) { d.StateTTLMillis = 10 }), 5*minute + 11, `{"a":1,"b":[1.0,"x"]}`, bad},
	} {
		require.Contains(t, ask(c.server, c.at, c.arguments, state), c.want, name)
	}
	for i := range state { // whatever is changed in it
		changed := []byte(state)
		if changed[i] == 'A' {
			changed[i] = 'B'
		} else {
			changed[i] = 'A'
		}
		require.Contains(t, ask(server, 5*minute, `{"a":1,"b":[1.0,"x"]}`, string(changed)), bad, i)
	}
}
