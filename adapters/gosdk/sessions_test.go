package gosdk_test

//lint:file-ignore SA1019 clients of the older era may be asked to sample

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/adapters/gosdk"
)

func TestClientAndServer(t *testing.T) {
	ways := map[string]func() *gosdk.Transport{
		"child":  func() *gosdk.Transport { return gosdk.Command(child(t, "serve"), gosdk.Options{}) },
		"banner": func() *gosdk.Transport { return gosdk.Command(child(t, "banner"), gosdk.Options{}) },
		"unix":   func() *gosdk.Transport { return gosdk.Dial("unix", serve(t, "unix"), gosdk.Options{}) },
		"tcp":    func() *gosdk.Transport { return gosdk.Dial("tcp", serve(t, "tcp"), gosdk.Options{}) },
	}
	for _, way := range slices.Sorted(maps.Keys(ways)) {
		for _, version := range []string{"", "2025-11-25"} {
			t.Run(way+" "+version, func(t *testing.T) {
				link := ways[way]()
				exercise(t, link, version)
				if stats := link.Stats(); way == "banner" {
					require.EqualValues(t, 1, stats.Unreadable)
				} else {
					require.Zero(t, stats.Unreadable)
				}
			})
		}
	}
}

func exercise(t *testing.T, link *gosdk.Transport, version string) {
	reports, changed := make(chan *mcp.ProgressNotificationParams, 100), make(chan struct{}, 10)
	s := connect(t, link, version, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { reports <- r.Params },
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
		CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "none", Role: "assistant", Content: &mcp.TextContent{
				Text: "echo of " + r.Params.Messages[0].Content.(*mcp.TextContent).Text,
			}}, nil
		},
	})
	tools, err := s.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, tools.Tools, 7)
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			got, err := tool(t.Context(), s, "double", i, nil)
			if err != nil || got != fmt.Sprint(2*i) {
				t.Errorf("call %d: %q, %v", i, got, err)
			}
		})
	}
	wg.Wait()

	got, err := tool(t.Context(), s, "steps", 20, "mine")
	require.NoError(t, err)
	require.Equal(t, "done", got)
	for i := range 20 {
		r := <-reports
		require.Equal(t, "mine", r.ProgressToken)
		require.EqualValues(t, i+1, r.Progress)
	}

	ctx, giveUp := context.WithCancel(t.Context())
	wg.Go(func() {
		<-reports
		giveUp()
	})
	_, err = tool(ctx, s, "linger", 0, 1)
	require.ErrorIs(t, err, context.Canceled)
	wg.Wait()
	got, err = tool(t.Context(), s, "cancelled", 0, nil)
	require.NoError(t, err)
	require.Equal(t, "yes", got)

	if version != "" { // the newer era has no requests of the server
		got, err = tool(t.Context(), s, "ask", 0, nil)
		require.NoError(t, err)
		require.Equal(t, "echo of name?", got)
	}
	_, err = tool(t.Context(), s, "grow", 0, nil)
	require.NoError(t, err)
	<-changed

	_, err = tool(t.Context(), s, "nothing", 0, nil)
	require.Error(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, s.Wait())
}
