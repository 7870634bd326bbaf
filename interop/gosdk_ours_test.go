package interop

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// told is what a go-sdk client was notified of.
type told struct {
	progress chan float64
	tools    chan struct{}
	updated  chan string
}

func (n *told) options() *mcp.ClientOptions {
	n.progress, n.tools, n.updated = make(chan float64, 1000), make(chan struct{}, 100), make(chan string, 100)
	return &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { n.progress <- r.Params.Progress },
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { n.tools <- struct{}{} },
		ResourceUpdatedHandler:      func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { n.updated <- r.Params.URI },
	}
}

// The client of go-sdk, in both eras, on our server, over stdio and HTTP.
func TestGoSDKClientOnOurServer(t *testing.T) {
	for era, version := range map[string]string{"modern": "", "older": "2025-11-25"} {
		t.Run(era+" stdio", func(t *testing.T) {
			command := exec.Command(ourServer(t))
			useOurs(t, version, &mcp.CommandTransport{Command: command, TerminateDuration: 20 * time.Second})
			// An operation that goes on would be waited for, and the process ended.
			require.Zero(t, command.ProcessState.ExitCode(), "the server did not hear that a call was cancelled")
		})
		t.Run(era+" HTTP", func(t *testing.T) {
			useOurs(t, version, &mcp.StreamableClientTransport{Endpoint: ourEndpoint(t)})
		})
	}
}

func useOurs(t *testing.T, version string, way mcp.Transport) {
	var heard told
	client := mcp.NewClient(&mcp.Implementation{Name: "visitor", Version: "1"}, heard.options())
	session, err := client.Connect(t.Context(), way, &mcp.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	defer func() { require.NoError(t, session.Close()) }()
	if version == "" {
		version = "2026-07-28"
	}
	require.Equal(t, version, session.InitializeResult().ProtocolVersion)
	require.Equal(t, "correlator-everything", session.InitializeResult().ServerInfo.Name)

	names := map[string]bool{}
	for tool, err := range session.Tools(t.Context(), nil) {
		require.NoError(t, err)
		names[tool.Name] = true
	}
	require.True(t, names["echo"] && names["add"], "%v", names)
	read, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "test://static-text"})
	require.NoError(t, err)
	require.Equal(t, "This is the content of the static text resource.", read.Contents[0].Text)
	prompt, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "test_simple_prompt"})
	require.NoError(t, err)
	require.Len(t, prompt.Messages, 1)

	echo := func(message string) (string, error) {
		got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"message": message}})
		if err != nil {
			return "", err
		}
		return got.Content[0].(*mcp.TextContent).Text, nil
	}
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			if got, err := echo(fmt.Sprint("grüße ", i)); err != nil || got != fmt.Sprint("grüße ", i) {
				t.Errorf("call %d: %q, %v", i, got, err)
			}
		})
	}
	wg.Wait()

	operation := func(ctx context.Context, duration float64, steps int) error {
		params := &mcp.CallToolParams{Name: "trigger-long-running-operation", Arguments: map[string]any{"duration": duration, "steps": steps}}
		params.SetProgressToken(fmt.Sprint("of ", steps))
		_, err := session.CallTool(ctx, params)
		return err
	}
	require.NoError(t, operation(t.Context(), 0.1, 4))
	for step := range 4 {
		require.EqualValues(t, step+1, <-heard.progress)
	}

	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() { failed <- operation(ctx, 60, 1000) }()
	<-heard.progress
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	got, err := echo("still there")
	require.NoError(t, err)
	require.Equal(t, "still there", got)

	require.NoError(t, session.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "test://watched-resource"}))
	for _, trigger := range []string{"test_trigger_resource_update", "test_trigger_tool_change"} {
		_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: trigger})
		require.NoError(t, err)
	}
	require.Equal(t, "test://watched-resource", <-heard.updated)
	<-heard.tools
	require.NoError(t, session.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "test://watched-resource"}))
}
