package mcpgo_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/mcpgo"
)

// start makes a client of mcp-go on t and shakes hands.
func start(t testing.TB, link *mcpgo.Transport, o ...client.ClientOption) *client.Client {
	t.Helper()
	c := client.NewClient(link, o...)
	require.NoError(t, c.Start(context.Background()))
	t.Cleanup(func() {
		_ = c.Close()
		<-link.Conn().Done()
	})
	request := mcp.InitializeRequest{}
	request.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	_, err := c.Initialize(t.Context(), request)
	require.NoError(t, err)
	return c
}

// tool calls a tool with the argument n, and a token unless that is nil.
func tool(ctx context.Context, c *client.Client, name string, n int, token mcp.ProgressToken) (string, error) {
	request := mcp.CallToolRequest{}
	request.Params.Name = name
	request.Params.Arguments = map[string]any{"n": n}
	if token != nil {
		request.Params.Meta = &mcp.Meta{ProgressToken: token}
	}
	result, err := c.CallTool(ctx, request)
	if err != nil {
		return "", err
	}
	text := result.Content[0].(mcp.TextContent).Text
	if result.IsError {
		return "", errors.New(text)
	}
	return text, nil
}

func TestClientOfMCPGo(t *testing.T) {
	for _, way := range slices.Sorted(maps.Keys(everyWay)) {
		for era, options := range map[string][]client.ClientOption{"modern": nil, "older": {client.WithProtocolVersion("2025-11-25")}} {
			t.Run(way+" "+era, func(t *testing.T) {
				exercise(t, everyWay[way](t, mcpgo.Options{}), era == "modern", options)
			})
		}
	}
}

type sampler struct{}

func (sampler) CreateMessage(_ context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	result := &mcp.CreateMessageResult{Model: "none"}
	result.Role, result.Content = "assistant", mcp.NewTextContent("echo of "+r.Messages[0].Content.(mcp.TextContent).Text)
	return result, nil
}

func exercise(t *testing.T, link *mcpgo.Transport, modern bool, options []client.ClientOption) {
	c := start(t, link, append(options, client.WithSamplingHandler(sampler{}))...)
	var mu sync.Mutex
	reports := map[any][]float64{}
	changed := make(chan struct{}, 10)
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		switch n.Method {
		case "notifications/tools/list_changed":
			changed <- struct{}{}
		case "notifications/progress":
			token, value := n.Params.AdditionalFields["progressToken"], n.Params.AdditionalFields["progress"].(float64)
			mu.Lock()
			reports[token] = append(reports[token], value)
			mu.Unlock()
			if value == 20 { // a handler may make calls
				_, err := tool(context.Background(), c, "release", 0, nil)
				require.NoError(t, err)
			}
		}
	})
	//lint:ignore SA1019 the older era has it
	require.NoError(t, c.Ping(t.Context()))
	tools, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	require.NoError(t, err)
	require.Len(t, tools.Tools, 7)

	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			got, err := tool(t.Context(), c, "double", i, nil)
			if err != nil || got != fmt.Sprint(2*i) {
				t.Errorf("call %d: %q, %v", i, got, err)
			}
		})
	}
	wg.Wait()

	// Progress comes whole and in order, under the caller's token, before the answer;
	// two calls may have the same token.
	var want []float64
	for i := range 20 {
		want = append(want, float64(i+1))
	}
	got, err := tool(t.Context(), c, "steps", 20, "mine")
	require.NoError(t, err)
	require.Equal(t, "done", got)
	require.Equal(t, map[any][]float64{"mine": want}, reports)
	for range 2 {
		wg.Go(func() {
			if got, err := tool(t.Context(), c, "steps", 20, 7); err != nil || got != "done" {
				t.Errorf("steps: %q, %v", got, err)
			}
		})
	}
	wg.Wait()
	slices.Sort(reports[7.0])
	var twice []float64
	for _, v := range want {
		twice = append(twice, v, v)
	}
	require.Equal(t, twice, reports[7.0])

	// A call that is given up is cancelled at the server, once.
	ctx, giveUp := context.WithCancel(t.Context())
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Params.AdditionalFields["progressToken"] == "lingers" {
			giveUp()
		}
	})
	_, err = tool(ctx, c, "linger", 0, "lingers")
	require.ErrorIs(t, err, context.Canceled)
	got, err = tool(t.Context(), c, "cancelled", 0, nil)
	require.NoError(t, err)
	require.Equal(t, "yes", got)
	require.EqualValues(t, 1, link.Conn().Stats().CancelsOut)

	// The server's notifications, and its requests, which the newer era has no more.
	if modern {
		listening, stop := context.WithCancel(t.Context())
		heard := make(chan error, 1)
		acknowledged := make(chan struct{}, 1)
		c.OnNotification(func(n mcp.JSONRPCNotification) {
			if n.Method == "notifications/subscriptions/acknowledged" {
				acknowledged <- struct{}{}
			}
		})
		go func() { heard <- c.Listen(listening, mcp.SubscriptionFilter{ToolsListChanged: true}) }()
		<-acknowledged
		defer func() {
			stop()
			require.ErrorIs(t, <-heard, context.Canceled)
		}()
	} else {
		got, err = tool(t.Context(), c, "ask", 0, nil)
		require.NoError(t, err)
		require.Equal(t, "echo of name?", got)
	}
	_, err = tool(t.Context(), c, "grow", 0, nil)
	require.NoError(t, err)
	<-changed

	_, err = c.GetPrompt(t.Context(), mcp.GetPromptRequest{})
	require.Error(t, err)
	require.NotErrorIs(t, err, transport.ErrTransportClosed)
	require.NoError(t, link.Conn().Err())
}
