package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/correlator-go/correlator/mcp"
)

// said makes a prompt of what the user says.
func said(blocks ...mcp.Content) *mcp.PromptResult {
	r := &mcp.PromptResult{}
	for _, b := range blocks {
		r.Messages = append(r.Messages, mcp.PromptMessage{Role: "user", Content: b})
	}
	return r
}

func prompts() []mcp.ServerPrompt {
	return []mcp.ServerPrompt{
		{
			Prompt: mcp.Prompt{Name: "test_simple_prompt", Description: "A prompt without arguments"},
			Handle: func(context.Context, *mcp.Request) (*mcp.PromptResult, error) {
				return said(mcp.Text("This is a simple prompt for testing.")), nil
			},
		},
		{
			Prompt: mcp.Prompt{Name: "test_prompt_with_arguments", Description: "A prompt with two arguments", Arguments: []mcp.PromptArgument{
				{Name: "arg1", Description: "First test argument", Required: true}, {Name: "arg2", Description: "Second test argument", Required: true},
			}},
			Handle: func(_ context.Context, r *mcp.Request) (*mcp.PromptResult, error) {
				a := r.PromptArguments()
				return said(mcp.Text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"]))), nil
			},
		},
		{
			Prompt: mcp.Prompt{Name: "test_prompt_with_embedded_resource", Description: "A prompt that embeds a resource", Arguments: []mcp.PromptArgument{
				{Name: "resourceUri", Description: "URI of the resource to embed", Required: true},
			}},
			Handle: func(_ context.Context, r *mcp.Request) (*mcp.PromptResult, error) {
				c := mcp.Contents{URI: r.PromptArguments()["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing."}
				return said(mcp.Embed(c), mcp.Text("Please process the embedded resource above.")), nil
			},
		},
		{
			Prompt: mcp.Prompt{Name: "test_prompt_with_image", Description: "A prompt with an image"},
			Handle: func(context.Context, *mcp.Request) (*mcp.PromptResult, error) {
				return said(mcp.Image(pixel, "image/png"), mcp.Text("Please analyze the image above.")), nil
			},
		},
		{
			Prompt: mcp.Prompt{Name: "test_input_required_result_prompt", Description: "A prompt that asks for input first"},
			Handle: func(_ context.Context, r *mcp.Request) (*mcp.PromptResult, error) {
				if text, ok := accepted[string](r, "user_context", "context"); ok {
					return said(mcp.Text("Use this context: " + text)), nil
				}
				return nil, &mcp.InputRequired{Requests: map[string]mcp.InputRequest{
					"user_context": form("What context should the prompt use?", contextForm),
				}}
			},
		},
	}
}

// places are what arguments are completed from.
var places = []string{"paris", "park", "party", "pavilion", "peak", "port"}

func complete(_ context.Context, _ *mcp.Request, c mcp.Completion) (*mcp.CompletionResult, error) {
	r := &mcp.CompletionResult{Values: []string{}}
	for _, p := range places {
		if strings.HasPrefix(p, c.Value) {
			r.Values = append(r.Values, p)
		}
	}
	r.Total = len(r.Values)
	return r, nil
}
