package main

import (
	"context"
	"encoding/json"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/correlator-go/correlator/client"
	"github.com/correlator-go/correlator/mcp"
)

// Every tool, resource and prompt works, in both eras, in process and over HTTP.
func TestEverything(t *testing.T) {
	answers := client.Options{
		Elicit: func(context.Context, mcp.ElicitParams) (mcp.ElicitResult, error) {
			return mcp.ElicitResult{Action: "accept", Content: json.RawMessage(
				`{"name":"Ada","color":"green","ok":true,"context":"here","username":"ada","email":"ada@example.com"}`)}, nil
		},
		Sample: func(context.Context, mcp.SamplingParams) (mcp.SamplingResult, error) {
			return mcp.SamplingResult{Role: "assistant", Content: mcp.Text("Paris"), Model: "none"}, nil
		},
		Roots: func(context.Context) ([]mcp.Root, error) { return []mcp.Root{{URI: "file:///"}}, nil },
	}
	for name, era := range map[string]client.Era{"modern": client.EraModern, "older": client.EraLegacy} {
		t.Run(name, func(t *testing.T) {
			s, err := newServer()
			require.NoError(t, err)
			defer s.Close()
			ctx, stop := context.WithCancel(t.Context())
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			served := make(chan error, 1)
			go func() { served <- serveHTTP(ctx, s, l) }()
			defer func() {
				stop()
				require.NoError(t, <-served)
			}()
			for _, way := range []client.Transport{
				client.Stream(s.InProcess(ctx)), client.HTTP{Endpoint: "http://" + l.Addr().String() + "/mcp"},
			} {
				o := answers
				o.Era = era
				c, err := client.Connect(ctx, way, o)
				require.NoError(t, err)
				useAll(t, c)
				require.NoError(t, c.Close())
			}
		})
	}
}

func useAll(t *testing.T, c *client.Client) {
	given := map[string]any{
		"echo": echoed{"hi"}, "add": addends{1, 2}, "test_sampling": prompted{"hi"}, "test_elicitation": shown{"hi"},
		"trigger-long-running-operation": operation{0.01, 2}, "test_headers": map[string]string{"region": "eu"},
		"json_schema_2020_12_tool": map[string]string{"phone": "1", "contactMethod": "phone"},
	}
	texts := map[string]string{}
	for tool, err := range c.Tools(t.Context()) {
		require.NoError(t, err)
		require.NotEmpty(t, tool.Description)
		r, err := c.CallTool(t.Context(), tool.Name, given[tool.Name], client.CallOptions{})
		require.NoError(t, err, tool.Name)
		require.Equal(t, tool.Name == "test_error_handling", r.IsError, "%s: %v", tool.Name, r.Content)
		texts[tool.Name] = r.Content[0].Text
	}
	require.Equal(t, "hi", texts["echo"])
	require.Equal(t, "Hello, Ada!", texts["test_input_required_result_elicitation"])
	require.Equal(t, "Paris", texts["test_input_required_result_sampling"])
	require.Equal(t, "state-ok", texts["test_input_required_result_request_state"])
	require.Equal(t, "Ada likes green.", texts["test_input_required_result_multi_round"])
	require.Equal(t, "LLM response: Paris", texts["test_sampling"])
	require.Contains(t, texts["test_elicitation_sep1034_defaults"], `"age":30`)

	for r, err := range c.Resources(t.Context()) {
		require.NoError(t, err)
		_, err := c.ReadResource(t.Context(), r.URI, client.CallOptions{})
		require.NoError(t, err)
	}
	r, err := c.ReadResource(t.Context(), "test://template/7/data", client.CallOptions{})
	require.NoError(t, err)
	require.Contains(t, r.Contents[0].Text, `"id":"7"`)
	for p, err := range c.Prompts(t.Context()) {
		require.NoError(t, err)
		_, err := c.GetPrompt(t.Context(), p.Name, map[string]string{"arg1": "a", "arg2": "b", "resourceUri": "test://x"}, client.CallOptions{})
		require.NoError(t, err)
	}
	done, err := c.Complete(t.Context(), mcp.Completion{Prompt: "test_prompt_with_arguments", Argument: "arg1", Value: "par"}, client.CallOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"paris", "park", "party"}, done.Values)
}
