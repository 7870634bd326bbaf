package client_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/mcp"
	"github.com/correlator-go/correlator/serve"
)

// Each outcome of a call, in both eras and over every way, as its observer sees it.
func TestObserver(t *testing.T) {
	var mu sync.Mutex
	var seen []client.CallEvent
	take := func() (words []string) {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range seen {
			words = append(words, e.Method+" "+e.Tool+" "+e.Outcome.String())
		}
		seen = nil
		return words
	}
	o := client.Options{Label: "one", Observer: func(e client.CallEvent) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, e)
		if e.Client != "one" || e.Duration < 0 || e.Duration > eventually {
			seen = append(seen, client.CallEvent{Method: "wrong"})
		}
		panic("what an observer does wrong harms nobody")
	}, Timeout: eventually,
		Roots: func(context.Context) ([]mcp.Root, error) { return nil, nil }}
	everywhere(t, o, func(t *testing.T, c *client.Client, _ *serve.Server) {
		require.Empty(t, take(), "the handshake is no call")
		_, err := c.CallTool(t.Context(), "add", sum{1, 2}, client.CallOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{"tools/call add completed"}, take())
		_, err = c.CallTool(t.Context(), "fail", nil, client.CallOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{"tools/call fail tool_failed"}, take())
		_, err = c.CallTool(t.Context(), "nobody", nil, client.CallOptions{})
		require.Error(t, err)
		require.Equal(t, []string{"tools/call nobody failed"}, take())
		_, err = c.CallTool(t.Context(), "hang", nil, client.CallOptions{Timeout: 20 * time.Millisecond})
		require.Error(t, err)
		require.Equal(t, []string{"tools/call hang failed"}, take())
		_, err = c.ReadResource(t.Context(), "note://one", client.CallOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{"resources/read  completed"}, take())
		_, err = c.CallTool(t.Context(), "again", nil, client.CallOptions{})
		require.Error(t, err, "it asks for ever")
		words := take()
		if c.Revision().IsModern() {
			require.Len(t, words, 1+client.DefaultMaxRounds)
			require.Equal(t, "tools/call again input_required", words[0])
		} else {
			require.Equal(t, []string{"tools/call again failed"}, words, "the server asks by requests of its own")
		}
		_, err = c.Call(t.Context(), mcp.MethodListTools, nil, client.CallOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{"tools/list  completed"}, take())
	})
	require.Equal(t, "CallOutcome(9)", client.CallOutcome(9).String())
}
